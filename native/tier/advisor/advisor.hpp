#pragma once

#include "common/clock.hpp"
#include "tier/advisor/large_mappings.hpp"
#include "tier/advisor/reclaimer.hpp"
#include "tier/advisor/resident_set.hpp"
#include "tier/advisor/sweep_detector.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace assay::tier {

/// Keeps large mappings of this process within a DRAM budget backed by the kernel's swap, by advice alone:
/// madvise(2) calls that never change content.
///
/// One thread scans the residency of pages, detects sweeps, prefetches ahead of them (MADV_WILLNEED), and
/// pages out granules behind them or granules resident for the longest time (MADV_PAGEOUT, Linux 5.4). It
/// reads the mappings from the kernel and intercepts no calls of the program.
class Advisor {
  public:
    /// Configuration of an advisor.
    struct Config {
        std::size_t memory_bytes = 0;                  ///< DRAM budget of large mappings.
        std::size_t min_bytes = std::size_t{64} << 20; ///< Minimum size of a large mapping.
    };

    /// Create an advisor on its own thread, with a private descriptor table (unshare_descriptors).
    ///
    /// \param room memory for the object.
    /// \throws std::runtime_error, std::system_error naming the missing capability of this machine.
    static Advisor& start(void* room, const Config& config);
    Advisor(const Advisor&) = delete;
    Advisor& operator=(const Advisor&) = delete;
    /// Lives until the process ends.
    ~Advisor() = delete;

    /// Return counters of all large mappings, including removed ones. `read_bytes` counts prefetched bytes,
    /// `written_bytes` bytes that were paged out, `prefetch_hits` prefetched pages that were used, and
    /// `unused_prefetches` those that were not.
    [[nodiscard]] Counts counts();

  private:
    explicit Advisor(const Config& config);

    [[noreturn]] void work();
    /// Take one step. \returns the time of the next one.
    Nanos step(Nanos now);

    void update_mappings(Nanos now);
    void forget(const LargeMapping& mapping);
    void scan_all(Nanos now);
    void scan_ahead_of(const Sweep& sweep, Nanos now);
    /// Scan a range. \returns the number of newly resident granules.
    std::size_t scan(const LargeMapping& mapping, GranuleRange range, Nanos now);
    void observe(GranuleRange run, Nanos now);

    void prefetch(Nanos now);
    void prefetch_ahead_of(Sweep& sweep, std::int64_t window, std::size_t& room);
    /// Abandon the prefetches ahead of a sweep.
    void abandon(Sweep& sweep);

    std::size_t budget_; ///< In pages.
    LargeMappings mappings_;
    ResidentSet resident_;
    SweepDetector sweeps_;
    Reclaimer reclaimer_;
    Nanos mappings_due_ = 0, scan_due_ = 0, scan_pause_ = 0;
    Nanos last_move_ = 0;         ///< Time of the most recent progress of any sweep.
    std::int64_t scanned_to_ = 0; ///< Position of the scan in progress, in granules.
    std::size_t arrived_ = 0;     ///< Newly resident granules in this scan.
    std::mutex lock_;
};

} // namespace assay::tier
