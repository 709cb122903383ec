#include "launcher/containment/cgroup.hpp"

#include "common/files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace assay {

namespace {

bool is_v2_mount(int fd) {
    struct statfs status{};
    return ::fstatfs(fd, &status) == 0 && static_cast<unsigned long>(status.f_type) == CGROUP2_SUPER_MAGIC;
}

std::string join(const std::string& a, std::string_view b) {
    while (b.starts_with('/')) b.remove_prefix(1);
    if (b.empty()) return a;
    return a.empty() ? std::string(b) : a + '/' + std::string(b);
}

constexpr int max_names = 100;

std::string leaf_name(const Plan& plan, pid_t launcher, int number) {
    return plan.cgroup_name.value_or("assay-" + std::to_string(launcher) + '-' + std::to_string(number));
}

} // namespace

std::string creation_error(std::string_view what, int error) {
    std::string text = "cannot create " + std::string(what) + ": " + std::strerror(error);
    if (error == EACCES || error == EPERM || error == EROFS) {
        text += "; run as root, or start with: systemd-run --user --scope -p Delegate=yes";
    }
    return text;
}

std::optional<Hierarchies> Hierarchies::find(const std::string& root, std::string& why) {
    Hierarchies found;
    found.root_ = Fd{::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!found.root_) {
        why = "cannot open the control groups at " + root + ": " + std::strerror(errno);
        return std::nullopt;
    }
    auto own = read_file(AT_FDCWD, "/proc/self/cgroup");
    if (!own) {
        why = "this kernel has no control groups (no /proc/self/cgroup)";
        return std::nullopt;
    }
    found.own_ = std::move(*own);
    found.pure_v2_ = is_v2_mount(found.root());
    if (!found.pure_v2_) {
        const Fd unified{::openat(found.root(), "unified", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        found.hybrid_ = unified && is_v2_mount(unified.get());
    }
    if (!found.any_mounted()) {
        why = "no control groups are mounted at " + root + "; mount them (mount -t cgroup2 cgroup2 " + root +
              "), or let the container runtime mount them";
        return std::nullopt;
    }
    return found;
}

bool Hierarchies::any_mounted() const {
    constexpr std::array<std::string_view, 3> needed{"freezer", "memory", "cpuacct"};
    return has_unified() || std::any_of(needed.begin(), needed.end(), [&](std::string_view controller) {
               return ::faccessat(root(), mount(controller).c_str(), F_OK, 0) == 0;
           });
}

std::string Hierarchies::mount(std::string_view controller) const {
    if (controller.empty()) return pure_v2_ ? "" : "unified";
    std::string name{controller};
    if (::faccessat(root(), name.c_str(), F_OK, 0) == 0) return name;
    // Controllers may share a mount ("cpu,cpuacct") without links for the single names.
    const auto line = own_line(controller);
    return line ? line->controllers : name;
}

std::string Hierarchies::home(std::string_view controller, const std::optional<std::string>& parent) const {
    if (parent) return join(mount(controller), *parent);
    auto own = join(mount(controller), own_line(controller).value_or(GroupLine{"", "/"}).path);
    // If the hierarchy was mounted from outside our control group namespace, our own path is not valid in it,
    // and its root is our control group.
    if (!own.empty() && ::faccessat(root(), own.c_str(), F_OK, 0) != 0) own = mount(controller);
    return own;
}

std::optional<CgroupFolder> Hierarchies::make(std::string_view controller,
                                              const std::optional<std::string>& parent,
                                              const std::string& name) const {
    auto path = join(home(controller, parent), name);
    return adopting_ ? CgroupFolder::reopen(root(), std::move(path))
                     : CgroupFolder::create(root(), std::move(path));
}

void Hierarchies::thaw(pid_t pid) const {
    const auto groups = read_file(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/cgroup").c_str());
    auto line = groups && !pure_v2_ ? group_line(*groups, "freezer") : std::nullopt;
    while (line && line->path.size() > 1) { // a group is frozen if any group above it is
        write_file(root(), join("freezer", line->path + "/freezer.state").c_str(), "THAWED");
        line->path.resize(line->path.rfind('/'));
    }
}

namespace {

/// Create the leaf in the first hierarchy layout that permits it.
LeafAttempt attempt_leaf(const Plan& plan, const std::string& name, bool adopt) {
    LeafAttempt attempt;
    auto hierarchies = Hierarchies::find(plan.cgroup_root, attempt.why);
    if (!hierarchies) return attempt;
    hierarchies->adopt(adopt);
    const bool pure_v2 = hierarchies->pure_v2();
    if (hierarchies->has_unified()) attempt = make_v2_leaf(std::move(*hierarchies), plan, name);
    if (attempt.leaf || attempt.taken || pure_v2) return attempt;
    // In hybrid mode the v2 hierarchy may be closed to us although v1 folders are delegated to us.
    const auto first_why = std::move(attempt.why);
    hierarchies = Hierarchies::find(plan.cgroup_root, attempt.why);
    if (!hierarchies) return attempt;
    hierarchies->adopt(adopt);
    attempt = make_v1_leaf(std::move(*hierarchies), plan, name);
    if (!first_why.empty()) attempt.why = first_why + "; " + attempt.why;
    return attempt;
}

} // namespace

std::unique_ptr<Containment> make_leaf(const Plan& plan, pid_t launcher, std::string& why) {
    for (int n = 0; n < max_names; ++n) {
        auto attempt = attempt_leaf(plan, leaf_name(plan, launcher, n), false);
        if (attempt.leaf) return std::move(attempt.leaf);
        why = std::move(attempt.why);
        // The name exists: a launcher with our process id and its supervisor were killed together and left
        // it.
        if (!attempt.taken || plan.cgroup_name) return nullptr;
    }
    return nullptr;
}

std::unique_ptr<Containment> adopt_leaf(Plan plan) {
    plan.limits.pids = 1; // the leaf may include a folder of that controller
    return std::move(attempt_leaf(plan, *plan.cgroup_name, true).leaf);
}

namespace {

/// Remove empty groups with the first `names` names of a launcher.
void remove_empty_leaves(const Hierarchies& hierarchies, const Plan& plan, pid_t launcher, int names) {
    for (const char* controller : {"", "freezer", "memory", "cpuacct", "pids"}) {
        const auto home = hierarchies.home(controller, plan.cgroup_parent);
        for (int n = 0; n < names; ++n) {
            ::unlinkat(hierarchies.root(), join(home, leaf_name(plan, launcher, n)).c_str(), AT_REMOVEDIR);
        }
    }
}

} // namespace

void remove_preforked_leaf(const Hierarchies& hierarchies, pid_t launcher) {
    remove_empty_leaves(hierarchies, Plan{}, launcher, 1);
}

void remove_unfinished_leaf(const Plan& plan, pid_t launcher) {
    std::string why;
    const auto hierarchies = Hierarchies::find(plan.cgroup_root, why);
    if (hierarchies) remove_empty_leaves(*hierarchies, plan, launcher, max_names);
}

struct MemoryController::Names {
    const char* stat;
    const char* anon;
    const char* shmem;
    const char* cache;
    const char* faults;
    const char* limit;
    const char* swap_limit;
    const char* peak;
    const char* events;
};

// v1: values with "total_" include the groups below, as those of v2 do.
const MemoryController::Names MemoryController::v1_names{"memory.stat",
                                                         "total_rss",
                                                         "total_shmem",
                                                         "total_cache",
                                                         "total_pgfault",
                                                         "memory.limit_in_bytes",
                                                         "memory.memsw.limit_in_bytes",
                                                         "memory.max_usage_in_bytes",
                                                         "memory.oom_control"};
const MemoryController::Names MemoryController::v2_names{
    "memory.stat",     "anon",        "shmem",        "file", "pgfault", "memory.max",
    "memory.swap.max", "memory.peak", "memory.events"};

std::optional<MemoryController> MemoryController::in(const CgroupFolder& folder, bool v2) {
    MemoryController controller{v2 ? v2_names : v1_names};
    if (!folder.has(controller.names_->limit)) return std::nullopt;
    controller.stat_ = folder.open(controller.names_->stat, O_RDONLY);
    return controller;
}

int MemoryController::limit(const CgroupFolder& folder, std::int64_t bytes) const {
    const auto amount = std::to_string(bytes);
    if (const int error = folder.write(names_->limit, amount)) return error;
    if (names_ == &v2_names) {
        // Without memory.oom.group the kernel kills one process and leaves the rest of the tree running
        // (Linux 4.19).
        if (const int error = folder.write("memory.oom.group", "1"); error != 0 && error != ENOENT)
            return error;
    }
    // Swapping instead of reaching the limit would make the run slow and the limit meaningless. v1 limits
    // memory and swap together, v2 swap alone. Kernels without swap accounting lack the file.
    const int error = folder.write(names_->swap_limit, names_ == &v2_names ? "0" : amount);
    return error == ENOENT ? 0 : error;
}

std::optional<TreeMemory> MemoryController::memory() const {
    char buffer[8192];
    const auto text = reread(stat_.get(), buffer, sizeof buffer);
    if (!text) return std::nullopt;
    const auto anon = number_after(*text, names_->anon);
    const auto shmem = number_after(*text, names_->shmem);
    if (!anon || !shmem) return std::nullopt;
    TreeMemory memory;
    memory.anonymous = *anon + *shmem;
    memory.shared = *shmem;
    // The value for files includes shared memory (v1 and v2).
    if (const auto cache = number_after(*text, names_->cache)) memory.cache = *cache - *shmem;
    // Linux 6.6 with the mount option memory_hugetlb_accounting.
    if (const auto huge = number_after(*text, "hugetlb")) {
        memory.huge = *huge;
        memory.huge_charged = true;
    }
    memory.faulted = faulted(*text);
    return memory;
}

std::optional<std::int64_t> MemoryController::faulted(std::string_view text) const {
    static const std::int64_t page = max_fault_bytes();
    static const bool shared_huge = shared_memory_may_be_huge();
    const auto faults = number_after(text, names_->faults);
    if (!faults || shared_huge) return std::nullopt;
    if (names_ == &v1_names) { // v1 does not report the source of huge pages
        if (number_after(text, "total_rss_huge").value_or(0) > 0) return std::nullopt;
        return *faults * page;
    }
    static const auto huge_page = read_number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    const auto huge = number_after(text, "thp_fault_alloc").value_or(0) +
                      number_after(text, "thp_collapse_alloc").value_or(0);
    if (huge > 0 && !huge_page) return std::nullopt;
    return *faults * page + huge * huge_page.value_or(0);
}

std::optional<std::int64_t> MemoryController::peak(const CgroupFolder& folder) const {
    return folder.read_number(names_->peak);
}

std::optional<std::int64_t> MemoryController::oom_kills(const CgroupFolder& folder) const {
    const auto text = folder.read(names_->events);
    return text ? number_after(*text, "oom_kill") : std::nullopt;
}

bool MemoryController::limit_hit(const CgroupFolder& folder) const {
    if (oom_kills(folder).value_or(0) == 0) return false;
    if (names_ == &v2_names) {
        const auto events = folder.read(names_->events);
        return !events || number_after(*events, "oom").value_or(0) > 0;
    }
    const auto peak_bytes = folder.read_number(names_->peak);
    const auto allowed = folder.read_number(names_->limit);
    return !peak_bytes || !allowed || limit_was_reached(*peak_bytes, *allowed);
}

bool limit_was_reached(std::int64_t peak, std::int64_t limit) {
    // The kernel charges several pages at a time for each CPU, and a huge page at once.
    constexpr std::int64_t margin = 4 << 20;
    return peak >= limit - std::min(margin, limit / 16);
}

int limit_pids(const CgroupFolder& folder, std::int64_t max_processes) {
    return folder.write("pids.max", std::to_string(max_processes));
}

bool pids_limit_hit(const CgroupFolder& folder) {
    const auto events = folder.read("pids.events");
    return events && number_after(*events, "max").value_or(0) > 0;
}

} // namespace assay
