#pragma once

#include "common/clock.hpp"

#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace assay::tier {

/// Busy-waits for events that arrive within microseconds, as long as that has paid off.
///
/// A sleeping thread is woken later than a disk reads 4 KiB, most of all in a guest, whose CPU is descheduled
/// meanwhile. Random page accesses were 1.3 to 1.6 times as fast with spinning (2 CPUs, virtio disk with a
/// latency of 100 us, Linux 6.18, 2026-11). The price is an otherwise idle CPU.
class AdaptiveSpin {
  public:
    /// Announce that an event will arrive soon. Any thread may call this; only one thread waits.
    void expect_soon() { expected_.store(true, std::memory_order_relaxed); }

    /// Wait for an event, busy for at most `max_spin`.
    ///
    /// \param transfers true to wait for the end of a transfer, false to wait for a page fault.
    /// \param has_arrived predicate: the event has arrived.
    /// \returns true if the event has arrived; false if the caller should sleep.
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
            // Another thread needs the CPU.
            if (now > until || now - before > max_spin / 4) break;
        }
        kind.hit_rate += ((arrived ? 1.0 : 0.0) - kind.hit_rate) / averaged_spins;
        if (arrived) expect_soon(); // The next event is likely to arrive as soon.
        return arrived;
    }

  private:
    static constexpr Nanos max_spin = nanos_per_milli / 5;
    static constexpr unsigned retry_interval = 64; ///< Waits per attempt while spins do not pay off.
    static constexpr double averaged_spins = 16;

    struct WaitKind {
        double hit_rate = 1.0; ///< Moving average of the share of spins during which an event arrived.
        unsigned skipped = 0;
    };

    std::atomic<bool> expected_ = false;
    std::array<WaitKind, 2> kinds_;
};

} // namespace assay::tier
