#pragma once

#include "common/clock.hpp"
#include "common/fd.hpp"

#include <cstdint>

namespace assay::noise {

/// What became of a thread between two looks.
struct Circumstances {
    Nanos since = 0;  ///< How long ago the last look was.
    Nanos ran = 0;    ///< It was on a CPU, by the scheduler's account; interrupts count as its own time.
    Nanos waited = 0; ///< It was ready to run and others had its CPU.
    std::int64_t switches = 0; ///< Another thread took the CPU.
    int cpu = -1;              ///< Where it is now.
};

/// Keeps the account of the calling thread, as the kernel has it.
///
/// Sources: clock_gettime(2) with CLOCK_THREAD_CPUTIME_ID; Documentation/scheduler/sched-stats.rst for
/// /proc/PID/schedstat, whose second number is the time spent waiting on a run queue; getrusage(2).
class Witness {
  public:
    Witness();

    /// What has happened since the last call. Takes one or two microseconds.
    Circumstances look();

    /// When the last look began, and how long the thread had run by then.
    [[nodiscard]] Nanos at() const { return before_.at; }
    [[nodiscard]] Nanos ran() const { return before_.ran; }

  private:
    struct Account {
        Nanos at = 0;
        Nanos ran = 0;
        Nanos waited = 0;
        std::int64_t switches = 0;
    };

    Account account();
    Account account_once();

    Fd schedstat_;
    Account before_;
};

} // namespace assay::noise
