#pragma once

#include "common/clock.hpp"
#include "tier/advisor/large_mappings.hpp"
#include "tier/advisor/resident_set.hpp"
#include "tier/advisor/sweep_detector.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Has what exceeds a budget paged out: what fronts have passed, and what has been in memory for the longest
/// time.
class Reclaimer {
  public:
    /// \param budget pages.
    Reclaimer(std::size_t budget, LargeMappings& mappings, ResidentSet& resident, SweepDetector& sweeps);

    /// Pages beyond the budget.
    [[nodiscard]] std::size_t excess_pages() const;
    /// Some of them leave, where it is time for that.
    void step(Nanos now);

  private:
    void back_off(Nanos now);
    void keep_behind();
    [[nodiscard]] GranuleRange next_behind_sweep();
    [[nodiscard]] GranuleRange next_oldest();
    /// \returns pages that have left memory.
    [[nodiscard]] std::size_t page_out(GranuleRange range);

    std::size_t budget_;    ///< Pages.
    std::int64_t distance_; ///< Granules that are left alone behind a front.
    LargeMappings& mappings_;
    ResidentSet& resident_;
    SweepDetector& sweeps_;
    Nanos due_ = 0, pause_ = 0, backoff_ = 0;
    std::size_t turn_ = 0;
    std::size_t paged_out_ = 0; ///< Pages that were paged out since all was within the budget.
    bool warned_blocked_ = false, warned_reused_ = false; ///< Why more stays than there is to be, each once.
};

} // namespace assay::tier
