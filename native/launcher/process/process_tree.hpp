#pragma once

#include "common/clock.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Fields of /proc/PID/stat in use here (proc_pid_stat(5)).
struct ProcStat {
    pid_t pid = 0;
    pid_t parent = 0;
    std::string name; // comm: at most 15 bytes
    char state = '?';
    unsigned flags = 0;
    std::int64_t own_ticks = 0;    // user + system
    std::int64_t waited_ticks = 0; // of children that it has waited for
    std::int64_t own_faults = 0;   // minor + major
    int nice = 0;
    int threads = 0;
    std::uint64_t start_ticks = 0;
    std::int64_t resident_pages = 0;
    int priority = 0; // of the real-time classes only
    int policy = 0;

    /// Return whether the process has called exec since its fork (PF_FORKNOEXEC).
    [[nodiscard]] bool executed() const { return (flags & 0x40U) == 0; }
    /// Return whether the process is ending (PF_EXITING), and therefore possibly outside every control group.
    [[nodiscard]] bool exiting() const { return (flags & 0x4U) != 0; }
    /// Return whether the process is alive. A process whose first thread has ended looks like a zombie while
    /// other threads are running.
    [[nodiscard]] bool alive() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

std::optional<ProcStat> parse_proc_stat(std::string_view text);
std::optional<ProcStat> proc_stat(pid_t pid);

/// Return whether a process has run at all. During fork a process is visible before it is in its control
/// group; the kernel schedules it only afterwards. In copy_process() of kernel/fork.c, attach_pid() comes
/// before cgroup_post_fork() and wake_up_new_task() after both. Returns true if the kernel does not count
/// runs (CONFIG_SCHED_INFO), and false for a process that has ended.
bool has_run(pid_t pid);

/// Return living processes below `root`, nearest first, without `root` itself; at most `limit`.
std::vector<pid_t> descendants(pid_t root, std::size_t limit = 65536);

/// Return the first thread ids of a process, at most `limit`; none if it has ended.
std::vector<pid_t> threads_of(pid_t pid, std::size_t limit);

Nanos ticks_to_ns(std::int64_t ticks);

/// Resident memory of processes (/proc/PID/status).
struct ResidentMemory {
    std::int64_t anonymous = 0; // and shared memory (RssAnon + RssShmem); shared pages count for each process
    std::int64_t largest_files = 0; // maximum over the processes of mapped file pages (RssFile)
};

/// Return nothing if all processes have ended.
std::optional<ResidentMemory> resident_of(const std::vector<pid_t>& pids);

} // namespace assay
