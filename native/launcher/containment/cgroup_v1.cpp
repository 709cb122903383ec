#include "common/files.hpp"
#include "launcher/containment/cgroup.hpp"
#include "launcher/process/process_tree.hpp"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>

namespace assay {

namespace {

/// The total is exact. The split (Linux 4.8) comes from the timer tick and is imprecise, so only its ratio is
/// used, as the kernel does for a process (cputime_adjust).
std::optional<CpuTime> split_cpu_time(const CgroupFolder& folder) {
    const auto total = folder.read_number("cpuacct.usage");
    const auto user = folder.read_number("cpuacct.usage_user");
    const auto system = folder.read_number("cpuacct.usage_sys");
    if (!total || !user || !system) return std::nullopt;
    if (*system == 0) return CpuTime{*total, 0};
    const double share = static_cast<double>(*user) / static_cast<double>(*user + *system);
    const auto user_part = static_cast<Nanos>(share * static_cast<double>(*total));
    return CpuTime{user_part, *total - user_part};
}

/// Leaf of v1 hierarchies only. Without the freezer a tree can fork faster than it is killed.
class V1Leaf final : public Containment {
  public:
    explicit V1Leaf(Hierarchies hierarchies) : hierarchies_(std::move(hierarchies)) {}

    /// Create the folders. Return false, with the reason in `attempt`, if they do not suffice.
    bool fill(const Plan& plan, const std::string& name, LeafAttempt& attempt);

    [[nodiscard]] const char* mode() const override { return "v1"; }
    [[nodiscard]] bool complete() const override { return freezer_.has_value(); }
    std::vector<int> join_files(bool in_cgroup) override;
    LimitEnforcement limit_memory(std::int64_t bytes, int& error) override;
    LimitEnforcement limit_processes(std::int64_t max_processes, int& error) override;
    std::vector<pid_t> processes() override;
    bool empty() override { return processes().empty(); }
    void kill() override;
    void thaw(pid_t pid) override { hierarchies_.thaw(pid); }
    std::optional<TreeMemory> memory() override;
    std::optional<Nanos> cpu_used() override;
    bool hit_memory_limit() override { return memory_ && memory_->limit_hit(*memory_folder_); }
    std::optional<std::int64_t> memory_kills() override {
        return memory_ ? memory_->oom_kills(*memory_folder_) : std::nullopt;
    }
    bool hit_process_limit() override { return pids_ && pids_limit_hit(*pids_); }
    TreeUsage usage() override;
    bool remove() override;

  private:
    template <typename Each>
    void each_folder(Each each) {
        for (auto* folder : {&freezer_, &memory_folder_, &cpuacct_, &pids_}) {
            if (*folder) each(**folder);
        }
    }

    Hierarchies hierarchies_; // first, because the folders are relative to its root
    std::optional<CgroupFolder> freezer_;
    std::optional<CgroupFolder> memory_folder_;
    std::optional<CgroupFolder> cpuacct_;
    std::optional<CgroupFolder> pids_;
    std::optional<MemoryController> memory_;
    std::vector<Fd> join_;
};

std::vector<int> V1Leaf::join_files(bool) {
    join_.clear();
    each_folder([&](CgroupFolder& folder) { join_.push_back(folder.open("tasks", O_WRONLY)); });
    std::vector<int> files;
    for (const Fd& fd : join_) files.push_back(fd.get());
    return files;
}

LimitEnforcement V1Leaf::limit_memory(std::int64_t bytes, int& error) {
    error = memory_ ? memory_->limit(*memory_folder_, bytes) : 0;
    if (!memory_) return LimitEnforcement::polled;
    return error == 0 ? LimitEnforcement::kernel : LimitEnforcement::refused;
}

LimitEnforcement V1Leaf::limit_processes(std::int64_t max_processes, int& error) {
    error = pids_ ? limit_pids(*pids_, max_processes) : 0;
    if (!pids_) return LimitEnforcement::polled;
    return error == 0 ? LimitEnforcement::kernel : LimitEnforcement::refused;
}

std::vector<pid_t> V1Leaf::processes() {
    std::vector<pid_t> found;
    each_folder([&](CgroupFolder& folder) {
        const auto more = folder.processes();
        found.insert(found.end(), more.begin(), more.end());
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

void V1Leaf::kill() {
    if (freezer_) static_cast<void>(freezer_->write("freezer.state", "FROZEN"));
    const auto left = processes();
    const auto still_ours = [&](pid_t pid) {
        const auto now = processes();
        return std::binary_search(now.begin(), now.end(), pid);
    };
    for (const pid_t pid : left) {
        // A frozen process cannot end, so its number cannot be reused.
        if (freezer_)
            ::kill(pid, SIGKILL);
        else
            kill_checked(pid, still_ours);
    }
    for (const pid_t pid : left)
        hierarchies_.thaw(pid); // includes groups that the program created below ours and froze
    if (freezer_) static_cast<void>(freezer_->write("freezer.state", "THAWED"));
}

std::optional<TreeMemory> V1Leaf::memory() {
    if (!memory_) return memory_of(processes());
    auto memory = memory_->memory();
    add_huge_pages(memory);
    return memory;
}

std::optional<Nanos> V1Leaf::cpu_used() {
    return cpuacct_ ? cpuacct_->read_number("cpuacct.usage") : std::nullopt;
}

TreeUsage V1Leaf::usage() {
    TreeUsage usage;
    if (cpuacct_) usage.cpu = split_cpu_time(*cpuacct_);
    if (memory_) {
        usage.peak_bytes = memory_->peak(*memory_folder_);
        usage.oom_kills = memory_->oom_kills(*memory_folder_);
    } else {
        usage.absent.emplace_back("peak_bytes", "cannot create a folder in the v1 memory hierarchy");
    }
    return usage;
}

bool V1Leaf::remove() {
    bool gone = true;
    each_folder([&](CgroupFolder& folder) { gone = folder.remove() && gone; });
    return gone;
}

bool V1Leaf::fill(const Plan& plan, const std::string& name, LeafAttempt& attempt) {
    name_ = name;
    const auto add = [&](std::optional<CgroupFolder>& folder, const char* controller) {
        if (attempt.taken || !hierarchies_.has_v1(controller)) return;
        folder = hierarchies_.make(controller, plan.cgroup_parent, name);
        if (folder) return;
        attempt.taken = errno == EEXIST;
        attempt.why = creation_error(std::string("a folder in the v1 ") + controller + " hierarchy", errno);
    };
    add(freezer_, "freezer");
    add(memory_folder_, "memory");
    add(cpuacct_, "cpuacct");
    if (plan.limits.pids) add(pids_, "pids");
    if (memory_folder_) memory_ = MemoryController::in(*memory_folder_, false);
    if (!freezer_)
        why_ = "without a folder in the v1 freezer hierarchy processes may fork faster than they are killed";
    return !attempt.taken && (freezer_ || memory_folder_);
}

} // namespace

LeafAttempt make_v1_leaf(Hierarchies hierarchies, const Plan& plan, const std::string& name) {
    LeafAttempt attempt;
    attempt.why = "no usable v1 hierarchy is mounted";
    auto leaf = std::make_unique<V1Leaf>(std::move(hierarchies));
    if (leaf->fill(plan, name, attempt))
        attempt.leaf = std::move(leaf);
    else
        leaf->remove();
    return attempt;
}

} // namespace assay
