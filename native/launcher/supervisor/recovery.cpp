#include "launcher/supervisor/recovery.hpp"

#include "common/raw.hpp"
#include "launcher/containment/cgroup.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/documents/record.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay {

namespace {

/// Return whether the supervisor wrote the record. Truncate an incomplete one.
bool is_written(int record) {
    struct stat status{};
    if (::fstat(record, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return false;
    const Fd reader{::open(("/proc/self/fd/" + std::to_string(record)).c_str(), O_RDONLY | O_CLOEXEC)};
    char last = 0;
    if (reader && ::pread(reader.get(), &last, 1, status.st_size - 1) == 1 && last == '\n') return true;
    if (::ftruncate(record, 0) == 0) ::lseek(record, 0, SEEK_SET);
    return false;
}

std::unique_ptr<Containment> left_by_supervisor(const Plan& plan) {
    switch (plan.containment) {
    case ContainmentMode::none:
        break;
    case ContainmentMode::automatic: // the supervisor was killed before it started a process
        remove_unfinished_leaf(plan, ::getpid());
        break;
    case ContainmentMode::cgroup:
        if (auto leaf = adopt_leaf(plan)) return leaf;
        break;
    }
    return std::make_unique<UngroupedTree>("the supervisor was killed, and the launch has no control group");
}

} // namespace

int recover(const Plan& plan, const std::optional<Fd>& record) {
    Result result;
    result.outcome = Outcome::interrupted;
    result.interrupted_by = SIGKILL;
    result.failure = Failure{"supervisor", 0, "the supervisor, assay-exec's second process, was killed"};
    const auto containment = left_by_supervisor(plan);
    ContainmentReport report{containment->mode(), containment->complete(), containment->why()};
    report.remaining = static_cast<std::int64_t>(count_tree(*containment).all);
    report.survivors = static_cast<std::int64_t>(end_tree(*containment));
    containment->remove();
    result.containment = report;
    return record && is_written(record->get()) ? 0 : deliver(result, record);
}

SupervisorRecovery::SupervisorRecovery(const Plan& plan, const std::optional<Fd>& record, char** environment)
    : environment_(environment), record_(record ? record->get() : -1) {
    words_ = {"assay-exec", "--take-over", "--cgroup-root", plan.cgroup_root};
    const auto add = [&](const char* option, const std::string& value) {
        words_.emplace_back(option);
        words_.push_back(value);
    };
    if (record) add("--record-fd", std::to_string(record_));
    if (plan.cgroup_parent) add("--cgroup-parent", *plan.cgroup_parent);
    if (plan.cgroup_name) add("--cgroup-name", *plan.cgroup_name);
    for (const auto& word : words_) argv_.push_back(word.c_str());
    argv_.insert(argv_.end(), {"--containment", nullptr, nullptr, nullptr, nullptr});
}

void SupervisorRecovery::exec(const SharedState& shared) {
    const char** const more = argv_.data() + words_.size() + 1;
    switch (shared.leaf.load()) {
    case leaf_made:
        more[0] = "cgroup";
        more[1] = "--cgroup-name";
        more[2] = shared.leaf_name;
        break;
    case no_leaf:
        more[0] = "none";
        break;
    default:
        more[0] = "auto";
    }
    if (record_ >= 0) raw::call(SYS_fcntl, record_, F_SETFD, 0);
    raw::call(SYS_execve, raw::as_long("/proc/self/exe"), raw::as_long(argv_.data()),
              raw::as_long(environment_));
}

} // namespace assay
