#pragma once

#include "common/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Where a program goes through its memory, upwards or downwards; in granules.
struct Sweep {
    std::int64_t first = 0;         ///< Where it began.
    std::int64_t head = 0;          ///< Where it has come to.
    std::int64_t step = 1;          ///< Or -1, downwards.
    std::int64_t prefetched_to = 0; ///< What has been asked for lies between the head and this.
    std::int64_t evicted_to = 0;    ///< What lies behind it has been decided on up to here.
    Nanos moved_at = 0;             ///< When it did last; 0: there is no front here.

    /// So far ahead of the head; negative behind it.
    [[nodiscard]] std::int64_t ahead(std::int64_t granule) const { return step * (granule - head); }
    /// It asks for as much as it has gone already: what is short is not overshot by more than its length.
    [[nodiscard]] std::int64_t window(std::int64_t max) const {
        const std::int64_t replaced = step * (head - first) + 1;
        return replaced < max ? replaced : max;
    }
};

/// Fronts that show in what was touched between one look and the next.
///
/// What was touched in one look is a run of granules, whose direction nobody knows; where the next run
/// adjoins it, that is a front.
class SweepDetector {
  public:
    static constexpr std::size_t max = 16;
    static constexpr std::int64_t max_passed_over = 4096;

    /// Granules from one to another were touched.
    ///
    /// \param whole whether a granule is in memory altogether, so that a front passes it without a sign.
    /// \returns the front that had to make room for another; one that never moved where none had to.
    template <class Whole>
    Sweep observe(std::int64_t first, std::int64_t last, Nanos now, Whole is_resident) {
        for (Sweep& sweep : sweeps_)
            if (sweep.moved_at != 0 && extends(sweep, first, last, now, is_resident)) return {};
        return match_candidate(first, last, now);
    }

    [[nodiscard]] Sweep* begin() { return sweeps_.data(); }
    [[nodiscard]] Sweep* end() { return sweeps_.data() + sweeps_.size(); }

  private:
    static constexpr std::size_t max_candidates = 32;
    static constexpr std::int64_t tolerance = 4;

    template <class Whole>
    static bool extends(Sweep& sweep, std::int64_t first, std::int64_t last, Nanos now, Whole is_resident) {
        const std::int64_t begin = sweep.step > 0 ? first : last, end = sweep.step > 0 ? last : first;
        if (sweep.ahead(begin) < -tolerance || sweep.ahead(begin) > max_passed_over) return false;
        for (std::int64_t i = 1; i < sweep.ahead(begin); ++i)
            if (!is_resident(sweep.head + i * sweep.step)) return false;
        if (sweep.ahead(end) > 0) sweep.head = end;
        sweep.moved_at = now;
        return true;
    }
    Sweep match_candidate(std::int64_t first, std::int64_t last, Nanos now);
    Sweep start_sweep(std::int64_t first, std::int64_t head, std::int64_t step, Nanos now);

    struct Candidate {
        std::int64_t first = -1, last = -2;
    };

    std::array<Sweep, max> sweeps_{};
    std::array<Candidate, max_candidates> candidates_{};
    std::size_t newest_ = 0;
};

} // namespace assay::tier
