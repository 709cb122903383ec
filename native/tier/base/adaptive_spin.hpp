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
class Awake {
  public:
    /// Something that takes no longer than a moment has begun.
    /// From any thread; only one waits.
    void expect() { expects_.store(true, std::memory_order_relaxed); }

    /// \param transfers whether what is waited for is the end of a transfer; else it is a touch.
    /// \param came whether it has come.
    /// \returns whether it has; where it has not, or is not expected, there is time to sleep.
    template <class Came>
    bool wait(bool transfers, Came came) {
        if (!expects_.exchange(false, std::memory_order_relaxed)) return false;
        Kind& kind = kinds_[transfers ? 1 : 0];
        if (kind.paid < 0.5 && ++kind.passed_over % seldom != 0) return false;
        bool any = false;
        const Nanos until = now_ns() + moment;
        for (Nanos now = 0, before = now_ns(); !(any = came()); before = now) {
            ::sched_yield();
            now = now_ns();
            // Others need the CPU.
            if (now > until || now - before > moment / 4) break;
        }
        kind.paid += ((any ? 1.0 : 0.0) - kind.paid) / remembered;
        if (any) expect(); // What follows comes as soon, perhaps.
        return any;
    }

  private:
    static constexpr Nanos moment = nanos_per_milli / 5;
    static constexpr unsigned seldom = 64; ///< One of so many is tried although it did not pay.
    static constexpr double remembered = 16;

    struct Kind {
        double paid = 1.0; ///< Of the times that it was tried, the part in which something came; an average.
        unsigned passed_over = 0;
    };

    std::atomic<bool> expects_ = false;
    std::array<Kind, 2> kinds_;
};

} // namespace assay::tier
