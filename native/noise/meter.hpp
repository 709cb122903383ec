#pragma once

#include "noise/interrupts.hpp"
#include "noise/request.hpp"
#include "noise/scheduler_account.hpp"

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::noise {

/// Detour: a single interruption of a thread.
struct Detour {
    Nanos start = 0;    ///< Start, from the beginning of the measurement.
    Nanos duration = 0; ///< Time beyond the fastest time of the same work.
};

/// One of the longest detours, with kernel counts during it.
struct DetourReport {
    Detour detour;
    ThreadActivity activity;
    Interrupts::Increments interrupts;
    /// Length of the interval of `interrupts`, which ends with the detour; 0: none.
    Nanos interrupt_window = 0;
};

/// Result for one CPU.
struct CpuResult {
    int cpu = -1;
    std::string error; ///< Reason why nothing was measured; empty on success.
    Nanos length = 0;
    std::uint64_t steps = 0;           ///< Work steps per quantum.
    Nanos min_piece = 0;               ///< Duration of an undisturbed piece of work.
    std::vector<std::int64_t> values;  ///< Nanoseconds (fixed_work), steps (fixed_time); empty for selfish.
    std::vector<Detour> detours;       ///< Detours, in order of start time.
    std::uint64_t dropped = 0;         ///< Number of values and detours beyond `max_values`.
    Nanos read_time = 0;               ///< Time spent on readings of kernel counts; not part of any detour.
    Interrupts::Increments interrupts; ///< All interrupts of the CPU during the measurement.
    std::vector<DetourReport> worst;   ///< Longest first.
};

/// Barrier that releases all threads at once, after memory is locked.
class StartBarrier {
  public:
    explicit StartBarrier(int threads) : waiting_(threads) {}

    /// Report that this thread is ready, and wait for the release.
    void ready() {
        --waiting_;
        while (!released_.load()) ::sched_yield();
    }

    [[nodiscard]] bool all_ready() const { return waiting_.load() == 0; }
    void release() { released_.store(true); }

  private:
    std::atomic<int> waiting_;
    std::atomic<bool> released_{false};
};

/// Pin the calling thread to one CPU and measure it.
///
/// Args:
///     request: parameters; all of its CPUs start together.
///     cpu: one of them.
///     barrier: shared by all threads.
///     stop: set to end all threads early.
CpuResult measure(const Request& request, int cpu, StartBarrier& barrier, const std::atomic<bool>& stop);

} // namespace assay::noise
