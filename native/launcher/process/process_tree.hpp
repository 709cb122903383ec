#pragma once

#include "common/clock.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The fields of /proc/PID/stat that matter here (proc_pid_stat(5)).
struct ProcStat {
    pid_t pid = 0;
    pid_t parent = 0;
    std::string name; // comm: at most 15 bytes
    char state = '?';
    unsigned flags = 0;
    std::int64_t own_ticks = 0;    // user + system
    std::int64_t waited_ticks = 0; // of children it has waited for
    std::int64_t own_faults = 0;   // minor + major
    int nice = 0;
    int threads = 0;
    std::uint64_t start_ticks = 0;
    std::int64_t resident_pages = 0;
    int priority = 0; // of the real-time classes
    int policy = 0;

    /// False between fork and exec (PF_FORKNOEXEC).
    [[nodiscard]] bool executed() const { return (flags & 0x40U) == 0; }
    /// On its way out (PF_EXITING), and as such perhaps in no control group any more.
    [[nodiscard]] bool exiting() const { return (flags & 0x4U) != 0; }
    /// A process whose first thread has ended looks like a zombie while its other threads go on.
    [[nodiscard]] bool alive() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

std::optional<ProcStat> parse_proc_stat(std::string_view text);
std::optional<ProcStat> proc_stat(pid_t pid);

/// Whether a process has run at all. One that is being forked can be seen before it is in its control group:
/// the kernel lets it run only when it is (copy_process(), kernel/fork.c: attach_pid() comes before
/// cgroup_post_fork(), wake_up_new_task() after both). True where the kernel counts no runs
/// (CONFIG_SCHED_INFO), false for what has gone.
bool has_run(pid_t pid);

/// Living processes below `root`, nearest first, without `root` itself; at most `limit`.
std::vector<pid_t> descendants(pid_t root, std::size_t limit = 65536);

/// The first thread ids of a process, at most `limit`; none where it has gone.
std::vector<pid_t> threads_of(pid_t pid, std::size_t limit);

Nanos ticks_to_ns(std::int64_t ticks);

/// Resident memory of processes (/proc/PID/status).
struct Resident {
    std::int64_t anonymous = 0; // and shared (RssAnon + RssShmem): what they share counts for each of them
    std::int64_t largest_files = 0; // most file pages that one of them has mapped (RssFile)
};

/// Nothing where none of the processes is left.
std::optional<Resident> resident_of(const std::vector<pid_t>& pids);

} // namespace assay
