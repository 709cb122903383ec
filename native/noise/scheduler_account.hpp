#pragma once

#include "common/clock.hpp"
#include "common/fd.hpp"

#include <cstdint>

namespace assay::noise {

/// Activity of a thread between two readings.
struct ThreadActivity {
    Nanos window = 0;          ///< Time since the last reading.
    Nanos on_cpu = 0;          ///< Time on a CPU by scheduler accounting, which includes interrupts.
    Nanos run_queue_wait = 0;  ///< Time runnable while other threads used its CPU.
    std::int64_t switches = 0; ///< Context switches away from the thread.
    int cpu = -1;              ///< Current CPU.
};

/// Reads the kernel's accounting of the calling thread.
///
/// Sources: clock_gettime(2) with CLOCK_THREAD_CPUTIME_ID; Documentation/scheduler/sched-stats.rst for
/// /proc/PID/schedstat, whose second number is the time spent waiting on a run queue; getrusage(2).
class SchedulerAccount {
  public:
    SchedulerAccount();

    /// Return the activity since the last call. Takes one or two microseconds.
    ThreadActivity read();

    /// Return the start of the last reading, and the CPU time of the thread by then.
    [[nodiscard]] Nanos at() const { return previous_.at; }
    [[nodiscard]] Nanos ran() const { return previous_.ran; }

  private:
    struct Snapshot {
        Nanos at = 0;
        Nanos ran = 0;
        Nanos waited = 0;
        std::int64_t switches = 0;
    };

    Snapshot snapshot();
    Snapshot snapshot_once();

    Fd schedstat_;
    Snapshot previous_;
};

} // namespace assay::noise
