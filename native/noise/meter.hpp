#pragma once

#include "noise/interrupts.hpp"
#include "noise/request.hpp"
#include "noise/witness.hpp"

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::noise {

/// Time that was taken away from a thread at once.
struct Detour {
    Nanos at = 0;   ///< When it began, from the beginning of the measurement.
    Nanos took = 0; ///< Beyond what the same work takes at its fastest.
};

/// One of the worst, with what the kernel counted meanwhile.
struct Told {
    Detour detour;
    Circumstances circumstances;
    Interrupts::Grown interrupts;
    Nanos window = 0; ///< They were counted in so long a time, the detour at its end; 0: not counted.
};

/// What one CPU showed.
struct Reading {
    int cpu = -1;
    std::string error; ///< Why nothing was measured; nothing where all went well.
    Nanos length = 0;
    std::uint64_t steps = 0;          ///< Of work in a quantum.
    Nanos least = 0;                  ///< A piece of the work takes so long where nothing disturbs it.
    std::vector<std::int64_t> values; ///< Nanoseconds (fixed_work), steps (fixed_time); none for selfish.
    std::vector<Detour> detours;      ///< In order of time.
    std::uint64_t left_out = 0;       ///< Values or detours for which there was no room.
    Nanos looked = 0;                 ///< Spent on finding out what the detours were; it is in none of them.
    Interrupts::Grown counted;        ///< All that interrupted the CPU meanwhile.
    std::vector<Told> worst;          ///< Longest first.
};

/// Where all threads wait until each is ready: they begin together, when memory is locked.
class Start {
  public:
    explicit Start(int threads) : waiting_(threads) {}

    /// This thread is ready; returns when all may begin.
    void ready() {
        --waiting_;
        while (!go_.load()) ::sched_yield();
    }

    [[nodiscard]] bool all_ready() const { return waiting_.load() == 0; }
    void go() { go_.store(true); }

  private:
    std::atomic<int> waiting_;
    std::atomic<bool> go_{false};
};

/// Measures one CPU with the calling thread, which it keeps there.
///
/// Args:
///     request: what is asked; all its CPUs begin together.
///     cpu: one of them.
///     start: of all threads.
///     stop: set when all are to stop early.
Reading measure(const Request& request, int cpu, Start& start, const std::atomic<bool>& stop);

} // namespace assay::noise
