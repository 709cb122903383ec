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

enum class Ending { by_itself, timed_out, limit, killed_for_memory, interrupted };

struct WatchResult {
    Ending ending = Ending::by_itself;
    int signal = 0;           // that asked for the end
    Nanos exit_ns = 0;        // when the end of the program was seen
    bool gone = true;         // false: it outlived SIGKILL (stuck in the kernel)
    std::size_t outside = 0;  // processes that had left the control group when the tree was killed
    StoppedTime stopped_time; // of the program
};

/// What the wait for one program needs.
struct WatchTarget {
    int pidfd = -1;
    pid_t pid = -1;
    pid_t launcher_pid = -1;
    int signals = -1;           // signalfd
    int caller = -1;            // pidfd; the front, which watches it too, may be stopped
    bool leave_signals = false; // to the program: front and caller stop with it, and that time is not counted
    bool multi_instance = false; // the program is the leader of several instances
    Nanos created_ns = 0; // when the process was made; the cap counts from exec as soon as that is known
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

/// Does the jobs until the program has ended. When it has to end sooner it kills the tree, which is asked to
/// end before that where its time is over, or somebody else asks for it.
WatchResult watch(const WatchTarget& target, Containment& containment, LimitMonitor& limits,
                  OomKillDetector& oom_kills, GracefulStop& graceful_stop,
                  const std::vector<PeriodicTask*>& tasks);

} // namespace assay
