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

/// Process to wait for, with the parameters of the wait.
struct WatchTarget {
    int pidfd = -1;
    pid_t pid = -1;
    pid_t launcher_pid = -1;
    int signals = -1;            // signalfd
    int caller_pidfd = -1;       // pidfd; the launcher watches it too, but may be stopped
    bool leave_signals = false;  // the program handles signals: launcher and caller stop with it, and its
                                 // stopped time is not counted
    bool multi_instance = false; // the program is the leader of several instances
    Nanos created_ns = 0;        // creation of the process; after exec the time limit counts from exec
    Nanos timeout = never;
    const SharedState* shared = nullptr;

    [[nodiscard]] Nanos deadline(const StoppedTime& stopped_time) const {
        const Nanos started = shared->started_ns.load(std::memory_order_relaxed);
        Nanos from = started != 0 ? started : created_ns;
        if (leave_signals) {
            if (stopped_time.stopped()) return never;
            from += stopped_time.total(from);
        }
        return timeout > never - from ? never : from + timeout;
    }
};

/// Run the periodic tasks until the program has ended. If it must end earlier, kill the tree. After a time
/// limit or a request to end, first allow the grace period.
WatchResult watch(const WatchTarget& target, Containment& containment, LimitMonitor& limits,
                  OomKillDetector& oom_kills, GracefulStop& graceful_stop,
                  const std::vector<PeriodicTask*>& tasks);

} // namespace assay
