#include "launcher/containment/limits.hpp"

#include "launcher/process/process_tree.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace assay {

namespace {

constexpr Nanos max_poll_interval = 20 * nanos_per_milli;

/// Checks use at most 1/20 of the time. Without a control group, each one reads files of every process of the
/// tree.
constexpr Nanos check_duty_divisor = 20;
/// Limits of a very large tree are still checked at this distance.
constexpr Nanos max_check_distance = nanos_per_second / 2;

const char* name_of(LimitEnforcement enforcement) {
    return enforcement == LimitEnforcement::kernel ? "kernel" : "polled";
}

} // namespace

LimitMonitor::LimitMonitor(Containment& containment, const Limits& limits, std::vector<int> outputs, int cpus)
    : containment_(containment), limits_(limits), outputs_(std::move(outputs)), cpus_(std::max(cpus, 1)) {}

bool LimitMonitor::set(std::vector<Applied>& applied) {
    int error = 0;
    if (limits_.memory_bytes) {
        memory_ = containment_.limit_memory(*limits_.memory_bytes, error);
        applied.push_back({"limits.memory_bytes", error, name_of(memory_)});
        if (memory_ == LimitEnforcement::refused) return false;
    }
    if (limits_.pids) {
        processes_ = containment_.limit_processes(*limits_.pids, error);
        applied.push_back({"limits.pids", error, name_of(processes_)});
        if (processes_ == LimitEnforcement::refused) return false;
    }
    if (limits_.cpu_s) applied.push_back({"limits.cpu_s", 0, "polled"});
    if (limits_.output_bytes) applied.push_back({"limits.output_bytes", 0, "polled"});
    return true;
}

void LimitMonitor::start(Nanos now) {
    if (limits_.any()) due_ = now + interval_;
}

void LimitMonitor::run(Nanos now) {
    if (hit_ != nullptr) return;
    // CPU time, because preemption while checking must not delay the next check.
    const Nanos used_before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    const Nanos cpu = cpu_left();
    if (cpu == 0)
        hit_ = "cpu";
    else if (over_memory())
        hit_ = "memory";
    else if (over_processes())
        hit_ = "processes";
    else if (over_output())
        hit_ = "output";

    interval_ = std::min(interval_ + interval_ / 2, max_poll_interval);
    const bool only_cpu = !limits_.memory_bytes && !limits_.pids && !limits_.output_bytes;
    const Nanos cost = now_ns(CLOCK_THREAD_CPUTIME_ID) - used_before;
    const Nanos distance = std::min(cost * check_duty_divisor, max_check_distance);
    due_ = hit_ != nullptr ? never : now + std::max(only_cpu ? cpu : std::min(interval_, cpu), distance);
}

Nanos LimitMonitor::cpu_left() {
    if (!limits_.cpu_s) return never - now_ns();
    // Without a control group, the CPU time of a process is lost if its parent ignores SIGCHLD.
    max_cpu_seen_ = std::max(max_cpu_seen_, containment_.cpu_used().value_or(0));
    const Nanos left = from_seconds(*limits_.cpu_s) - max_cpu_seen_;
    if (left <= 0) return 0;
    return std::clamp<Nanos>(left / cpus_, nanos_per_milli / 2, nanos_per_second);
}

bool LimitMonitor::over_memory() {
    if (!limits_.memory_bytes) return false;
    if (memory_ == LimitEnforcement::kernel) {
        if (containment_.hit_memory_limit()) return true;
        if (!containment_.huge_pages_in_use()) return false;
    }
    const auto memory = containment_.memory();
    if (!memory) return false;
    // Charged memory may exceed the limit briefly; the kernel enforces it.
    if (memory_ == LimitEnforcement::kernel && (memory->huge == 0 || memory->huge_charged)) return false;
    return memory->all() > *limits_.memory_bytes;
}

bool LimitMonitor::over_processes() {
    if (!limits_.pids) return false;
    if (processes_ == LimitEnforcement::kernel) return containment_.hit_process_limit();
    std::int64_t tasks = 0; // threads, as in the kernel's limit
    for (const pid_t pid : containment_.processes()) {
        if (const auto stat = proc_stat(pid)) tasks += stat->threads;
    }
    return tasks > *limits_.pids;
}

bool LimitMonitor::over_output() const {
    if (!limits_.output_bytes) return false;
    std::int64_t written = 0;
    for (const int fd : outputs_) {
        struct stat status{};
        if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) written += status.st_size;
    }
    return written > *limits_.output_bytes;
}

} // namespace assay
