#include "common/files.hpp"
#include "launcher/containment/cgroup.hpp"
#include "launcher/process/process_tree.hpp"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>

namespace assay {

namespace {

struct Pressure {
    const char* name;
    const char* file;
    const char* kind;
};

constexpr Pressure pressures[] = {{"cpu_some_s", "cpu.pressure", "some"},
                                  {"memory_some_s", "memory.pressure", "some"},
                                  {"memory_full_s", "memory.pressure", "full"},
                                  {"io_some_s", "io.pressure", "some"},
                                  {"io_full_s", "io.pressure", "full"}};

/// Return the total in seconds from a line such as "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345"
/// (microseconds).
std::optional<double> pressure(std::string_view text, std::string_view kind) {
    const auto line = line_after(text, kind);
    const auto at = line ? line->find("total=") : std::string_view::npos;
    if (at == std::string_view::npos) return std::nullopt;
    const auto usec = number_after(line->substr(at), "total");
    return usec ? std::optional{seconds(*usec * 1000)} : std::nullopt;
}

/// Leaf of the v2 hierarchy: on a pure v2 system, or on a hybrid one, where v1 controllers get a folder too.
/// cgroup.kill, cpu.stat and the pressure files need no controller.
class V2Leaf final : public Containment {
  public:
    V2Leaf(Hierarchies hierarchies, CgroupFolder unified)
        : hierarchies_(std::move(hierarchies)), unified_(std::move(unified)),
          cpu_stat_(unified_.open("cpu.stat", O_RDONLY)), events_(unified_.open("cgroup.events", O_RDONLY)) {}

    void find_memory(const Plan& plan, const std::string& name);
    void find_pids(const Plan& plan, const std::string& name);

    [[nodiscard]] const char* mode() const override { return hierarchies_.pure_v2() ? "v2" : "hybrid"; }
    [[nodiscard]] bool complete() const override { return complete_; }
    [[nodiscard]] int clone_into_fd() const override { return unified_.fd(); }
    std::vector<int> join_files(bool in_cgroup) override;
    LimitEnforcement limit_memory(std::int64_t bytes, int& error) override;
    LimitEnforcement limit_processes(std::int64_t max_processes, int& error) override;
    std::vector<pid_t> processes() override;
    bool empty() override;
    void kill() override;
    void thaw(pid_t pid) override { hierarchies_.thaw(pid); }
    std::optional<TreeMemory> memory() override;
    std::optional<Nanos> cpu_used() override;
    bool hit_memory_limit() override;
    std::optional<std::int64_t> memory_kills() override;
    bool hit_process_limit() override;
    TreeUsage usage() override;
    bool remove() override;

  private:
    [[nodiscard]] const CgroupFolder& memory_folder() const { return memory_v1_ ? *memory_v1_ : unified_; }
    [[nodiscard]] const CgroupFolder& pids_folder() const { return pids_v1_ ? *pids_v1_ : unified_; }
    bool enable(const Plan& plan, const char* controller) const;
    void freeze_and_kill();

    Hierarchies hierarchies_; // first, because the folders are relative to its root
    CgroupFolder unified_;
    std::optional<CgroupFolder> memory_v1_;
    std::optional<CgroupFolder> pids_v1_;
    std::optional<MemoryController> memory_;
    std::string no_memory_;
    std::vector<Fd> join_;
    Fd cpu_stat_;
    Fd events_;
    // Without either file a tree can fork faster than it is killed (Linux before 5.2).
    bool complete_ = unified_.has("cgroup.kill") || unified_.has("cgroup.freeze");
    int kills_ = 0;
};

/// Enable a controller below the parent group of the plan. Our own control group is not changed: it contains
/// us, and a group with processes cannot enable controllers for its children (cgroup-v2.rst, "No Internal
/// Process Constraint").
bool V2Leaf::enable(const Plan& plan, const char* controller) const {
    if (!plan.cgroup_parent) return false;
    const auto file = hierarchies_.home("", plan.cgroup_parent) + "/cgroup.subtree_control";
    return write_file(hierarchies_.root(), file.c_str(), std::string("+") + controller) == 0;
}

void V2Leaf::find_memory(const Plan& plan, const std::string& name) {
    name_ = name;
    if (hierarchies_.has_v1("memory")) {
        memory_v1_ = hierarchies_.make("memory", plan.cgroup_parent, name);
        if (!memory_v1_) {
            no_memory_ = creation_error("a folder in the v1 memory hierarchy", errno);
            return;
        }
        memory_ = MemoryController::in(*memory_v1_, false);
        return;
    }
    memory_ = MemoryController::in(unified_, true);
    if (!memory_ && enable(plan, "memory")) memory_ = MemoryController::in(unified_, true);
    if (!memory_) {
        no_memory_ =
            "the control group has no memory controller; `assay machine check` shows how to delegate it";
    }
}

void V2Leaf::find_pids(const Plan& plan, const std::string& name) {
    if (hierarchies_.has_v1("pids"))
        pids_v1_ = hierarchies_.make("pids", plan.cgroup_parent, name);
    else if (!unified_.has("pids.max"))
        enable(plan, "pids");
}

std::vector<int> V2Leaf::join_files(bool in_cgroup) {
    // v1: use `tasks`, which moves only the writing thread. Writing to cgroup.procs waits for an RCU grace
    // period, about 15 ms (commit 9a3284fad42f, Linux 5.4). A v2 domain group can be joined only through
    // cgroup.procs.
    join_.clear();
    if (!in_cgroup) join_.push_back(unified_.open("cgroup.procs", O_WRONLY));
    if (memory_v1_) join_.push_back(memory_v1_->open("tasks", O_WRONLY));
    if (pids_v1_) join_.push_back(pids_v1_->open("tasks", O_WRONLY));
    std::vector<int> files;
    for (const Fd& fd : join_) files.push_back(fd.get());
    return files;
}

LimitEnforcement V2Leaf::limit_memory(std::int64_t bytes, int& error) {
    error = memory_ ? memory_->limit(memory_folder(), bytes) : 0;
    if (!memory_) return LimitEnforcement::polled;
    return error == 0 ? LimitEnforcement::kernel : LimitEnforcement::refused;
}

LimitEnforcement V2Leaf::limit_processes(std::int64_t max_processes, int& error) {
    error = 0;
    if (!pids_folder().has("pids.max")) return LimitEnforcement::polled;
    error = limit_pids(pids_folder(), max_processes);
    return error == 0 ? LimitEnforcement::kernel : LimitEnforcement::refused;
}

std::vector<pid_t> V2Leaf::processes() {
    auto found = unified_.processes();
    for (const auto* folder : {&memory_v1_, &pids_v1_}) {
        if (!*folder) continue;
        const auto more = (*folder)->processes();
        found.insert(found.end(), more.begin(), more.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

bool V2Leaf::empty() {
    char buffer[256];
    const auto events = reread(events_.get(), buffer, sizeof buffer);
    if (!events || number_after(*events, "populated") != 0) return processes().empty();
    if (memory_v1_ && !memory_v1_->processes().empty()) return false;
    return !pids_v1_ || pids_v1_->processes().empty();
}

void V2Leaf::kill() {
    if (unified_.write("cgroup.kill", "1") != 0) freeze_and_kill(); // Linux before 5.14
    // A process in one of our v1 folders but outside the v2 group has moved itself and so escaped
    // cgroup.kill.
    const auto still_ours = [&](pid_t pid) {
        const auto now = processes();
        return std::binary_search(now.begin(), now.end(), pid);
    };
    if (++kills_ < 3) return;
    for (const pid_t pid : processes()) {
        kill_checked(pid, still_ours);
        hierarchies_.thaw(pid);
    }
}

void V2Leaf::freeze_and_kill() {
    static_cast<void>(unified_.write("cgroup.freeze", "1")); // Linux 5.2; prevents forks during the loop
    for (const pid_t pid : unified_.processes()) ::kill(pid, SIGKILL);
    static_cast<void>(unified_.write("cgroup.freeze", "0"));
}

std::optional<TreeMemory> V2Leaf::memory() {
    if (!memory_) return memory_of(unified_.processes());
    auto memory = memory_->memory();
    add_huge_pages(memory);
    return memory;
}

std::optional<Nanos> V2Leaf::cpu_used() {
    char buffer[1024];
    const auto text = reread(cpu_stat_.get(), buffer, sizeof buffer);
    const auto usec = text ? number_after(*text, "usage_usec") : std::nullopt;
    return usec ? std::optional{*usec * 1000} : std::nullopt;
}

bool V2Leaf::hit_memory_limit() {
    return memory_ && memory_->limit_hit(memory_folder());
}

std::optional<std::int64_t> V2Leaf::memory_kills() {
    return memory_ ? memory_->oom_kills(memory_folder()) : std::nullopt;
}

bool V2Leaf::hit_process_limit() {
    return pids_limit_hit(pids_folder());
}

TreeUsage V2Leaf::usage() {
    TreeUsage usage;
    char buffer[1024];
    const auto cpu = reread(cpu_stat_.get(), buffer, sizeof buffer);
    const auto user = cpu ? number_after(*cpu, "user_usec") : std::nullopt;
    const auto system = cpu ? number_after(*cpu, "system_usec") : std::nullopt;
    if (user && system) usage.cpu = CpuTime{*user * 1000, *system * 1000};
    if (const auto throttled = cpu ? number_after(*cpu, "throttled_usec") : std::nullopt) {
        usage.throttled_s = seconds(*throttled * 1000);
    }
    if (memory_) {
        usage.peak_bytes = memory_->peak(memory_folder());
        if (!usage.peak_bytes) usage.absent.emplace_back("peak_bytes", "requires memory.peak (Linux 5.19)");
        usage.oom_kills = memory_->oom_kills(memory_folder());
    } else {
        usage.absent.emplace_back("peak_bytes", no_memory_);
    }
    std::string read_from;
    std::optional<std::string> text;
    for (const auto& [name, file, kind] : pressures) {
        if (read_from != file) text = unified_.read(file), read_from = file;
        const auto total = text ? pressure(*text, kind) : std::nullopt;
        if (total) usage.pressure.emplace_back(name, *total);
    }
    return usage;
}

bool V2Leaf::remove() {
    bool gone = unified_.remove();
    if (memory_v1_) gone = memory_v1_->remove() && gone;
    if (pids_v1_) gone = pids_v1_->remove() && gone;
    return gone;
}

} // namespace

LeafAttempt make_v2_leaf(Hierarchies hierarchies, const Plan& plan, const std::string& name) {
    auto folder = hierarchies.make("", plan.cgroup_parent, name);
    if (!folder) {
        const int error = errno;
        return {nullptr, creation_error("a v2 control group", error), error == EEXIST};
    }
    auto leaf = std::make_unique<V2Leaf>(std::move(hierarchies), std::move(*folder));
    leaf->find_memory(plan, name);
    if (plan.limits.pids) leaf->find_pids(plan, name);
    return {std::move(leaf), {}, false};
}

} // namespace assay
