#pragma once

#include "common/clock.hpp"

#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace assay::tier {

/// Waits awake for what comes within a moment, where that has paid.
///
/// A thread that sleeps is woken later than a disk has read 4 KiB, above all in a guest, whose CPU is given
/// away meanwhile: touches of pages at random came 1.3 to 1.6 times as fast (2 CPUs, virtio disk of 100 us,
/// Linux 6.18, 2026-11). It costs a CPU that nobody else needs just then.
class AdaptiveSpin {
  public:
    /// Something that takes no longer than a moment has begun.
    /// From any thread; only one waits.
    void expect_soon() { expected_.store(true, std::memory_order_relaxed); }

    /// \param transfers whether what is waited for is the end of a transfer; else it is a touch.
    /// \param came whether it has come.
    /// \returns whether it has; where it has not, or is not expected, there is time to sleep.
    template <class HasArrived>
    bool wait(bool transfers, HasArrived has_arrived) {
        if (!expected_.exchange(false, std::memory_order_relaxed)) return false;
        WaitKind& kind = kinds_[transfers ? 1 : 0];
        if (kind.hit_rate < 0.5 && ++kind.skipped % retry_interval != 0) return false;
        bool arrived = false;
        const Nanos until = now_ns() + max_spin;
        for (Nanos now = 0, before = now_ns(); !(arrived = has_arrived()); before = now) {
            ::sched_yield();
            now = now_ns();
            // Others need the CPU.
            if (now > until || now - before > max_spin / 4) break;
        }
        kind.hit_rate += ((arrived ? 1.0 : 0.0) - kind.hit_rate) / averaged_spins;
        if (arrived) expect_soon(); // What follows comes as soon, perhaps.
        return arrived;
    }

  private:
    static constexpr Nanos max_spin = nanos_per_milli / 5;
    static constexpr unsigned retry_interval = 64; ///< One of so many is tried although it did not pay.
    static constexpr double averaged_spins = 16;

    struct WaitKind {
        double hit_rate =
            1.0; ///< Of the times that it was tried, the part in which something came; an average.
        unsigned skipped = 0;
    };

    std::atomic<bool> expected_ = false;
    std::array<WaitKind, 2> kinds_;
};

} // namespace assay::tier
