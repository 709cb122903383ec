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
class PageOut {
  public:
    /// \param budget pages.
    PageOut(std::size_t budget, Areas& areas, ResidentSet& resident, Fronts& fronts);

    /// Pages beyond the budget.
    [[nodiscard]] std::size_t over() const;
    /// Some of them leave, where it is time for that.
    void go_on(Nanos now);

  private:
    void rest(Nanos now);
    void stay_behind();
    [[nodiscard]] Piece next_behind();
    [[nodiscard]] Piece next_oldest();
    /// \returns pages that have left memory.
    [[nodiscard]] std::size_t page_out(Piece piece);

    std::size_t budget_;    ///< Pages.
    std::int64_t distance_; ///< Granules that are left alone behind a front.
    Areas& areas_;
    ResidentSet& resident_;
    Fronts& fronts_;
    Nanos due_ = 0, pause_ = 0, rest_ = 0;
    std::size_t turn_ = 0;
    std::size_t gone_ = 0; ///< Pages that were paged out since all was within the budget.
    bool said_stuck_ = false, said_used_ = false; ///< Why more stays than there is to be, each once.
};

} // namespace assay::tier
