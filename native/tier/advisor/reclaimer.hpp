#pragma once

#include "common/clock.hpp"
#include "tier/advisor/large_mappings.hpp"
#include "tier/advisor/resident_set.hpp"
#include "tier/advisor/sweep_detector.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Pages out memory beyond a budget: granules behind sweeps, and those resident for the longest time.
class Reclaimer {
  public:
    /// \param budget in pages.
    Reclaimer(std::size_t budget, LargeMappings& mappings, ResidentSet& resident, SweepDetector& sweeps);

    /// Return the pages beyond the budget.
    [[nodiscard]] std::size_t excess_pages() const;
    /// Page out a batch if it is due.
    void step(Nanos now);

  private:
    void back_off(Nanos now);
    void keep_behind();
    [[nodiscard]] GranuleRange next_behind_sweep();
    [[nodiscard]] GranuleRange next_oldest();
    /// Page out a range. \returns the number of pages that left memory.
    [[nodiscard]] std::size_t page_out(GranuleRange range);

    std::size_t budget_;    ///< In pages.
    std::int64_t distance_; ///< Granules spared behind the head of a sweep.
    LargeMappings& mappings_;
    ResidentSet& resident_;
    SweepDetector& sweeps_;
    Nanos due_ = 0, pause_ = 0, backoff_ = 0;
    std::size_t turn_ = 0;
    std::size_t paged_out_ = 0;                           ///< Pages paged out since the budget was last met.
    bool warned_blocked_ = false, warned_reused_ = false; ///< Each warning is printed once.
};

} // namespace assay::tier
