#pragma once

#include "common/clock.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/containment/limits.hpp"
#include "launcher/containment/oom_kills.hpp"
#include "launcher/supervisor/graceful_stop.hpp"
#include "launcher/supervisor/periodic_task.hpp"
#include "launcher/supervisor/shared_state.hpp"
#include "launcher/supervisor/stopped_time.hpp"

#include <vector>

namespace assay {

enum class EndReason { by_itself, timed_out, limit, oom_killed, interrupted };

struct WatchResult {
    EndReason end_reason = EndReason::by_itself;
    int signal = 0;           // signal that requested the end
    Nanos exit_ns = 0;        // time at which the end of the program was seen
    bool has_ended = true;    // false: it survived SIGKILL (blocked in the kernel)
    std::size_t outside = 0;  // processes outside the control group when the tree was killed
    StoppedTime stopped_time; // of the program
};

/// Parameters of the wait for one program.
struct WatchTarget {
    int pidfd = -1;
    pid_t pid = -1;
    pid_t launcher_pid = -1;
    int signals = -1;            // signalfd
    int caller_pidfd = -1;       // pidfd; the launcher watches it too, but may be stopped
    bool leave_signals = false;  // signals are left to the program: launcher and caller stop with it, and
                                 // stopped time is not counted
    bool multi_instance = false; // the program is the leader of several instances
    Nanos created_ns = 0; // creation of the process; the time limit counts from exec once that is known
    Nanos cap = never;
    const SharedState* shared = nullptr;

    [[nodiscard]] Nanos cap_at(const StoppedTime& stopped_time) const {
        const Nanos started = shared->started_ns.load(std::memory_order_relaxed);
        Nanos from = started != 0 ? started : created_ns;
        if (leave_signals) {
            if (stopped_time.stopped()) return never;
            from += stopped_time.total(from);
        }
        return cap > never - from ? never : from + cap;
    }
};

/// Run the periodic tasks until the program has ended. If it must end earlier, kill the tree. If a time limit
/// is over or the end was requested, first allow the grace period.
WatchResult watch(const WatchTarget& target, Containment& containment, LimitMonitor& limits,
                  OomKillDetector& oom_kills, GracefulStop& graceful_stop,
                  const std::vector<PeriodicTask*>& tasks);

} // namespace assay
