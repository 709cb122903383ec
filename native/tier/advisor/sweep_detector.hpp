#pragma once

#include "common/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Ascending or descending pass of the program through memory, in granules.
struct Sweep {
    std::int64_t first = 0;         ///< Beginning.
    std::int64_t head = 0;          ///< Present position.
    std::int64_t step = 1;          ///< Direction: 1, or -1 for descending.
    std::int64_t prefetched_to = 0; ///< End of the prefetched granules ahead of the head.
    std::int64_t evicted_to = 0;    ///< Granules behind the head are decided up to here.
    Nanos moved_at = 0;             ///< Time of the latest progress; 0: unused slot.

    /// Return the distance of a granule ahead of the head; negative behind it.
    [[nodiscard]] std::int64_t ahead(std::int64_t granule) const { return step * (granule - head); }
    /// Return the prefetch window: the distance covered so far, which bounds the excess beyond the end of a
    /// short sweep.
    [[nodiscard]] std::int64_t window(std::int64_t max) const {
        const std::int64_t covered = step * (head - first) + 1;
        return covered < max ? covered : max;
    }
};

/// Detects sweeps in the granules that arrived between two scans.
///
/// A scan yields runs of granules without direction; an adjacent run in a later scan determines it. The
/// pager's StreamDetector cannot be used here, because it needs the order and the threads of single faults.
class SweepDetector {
  public:
    static constexpr std::size_t max = 16;
    static constexpr std::int64_t max_passed_over = 4096;

    /// Process a run of accessed granules.
    ///
    /// \param is_resident predicate for granules that sweeps pass unnoticed.
    /// \returns the sweep that was replaced; one with `moved_at` 0 if none was.
    template <class IsResident>
    Sweep observe(std::int64_t first, std::int64_t last, Nanos now, IsResident is_resident) {
        for (Sweep& sweep : sweeps_)
            if (sweep.moved_at != 0 && extends(sweep, first, last, now, is_resident)) return {};
        return match_candidate(first, last, now);
    }

    [[nodiscard]] Sweep* begin() { return sweeps_.data(); }
    [[nodiscard]] Sweep* end() { return sweeps_.data() + sweeps_.size(); }

  private:
    static constexpr std::size_t max_candidates = 32;
    static constexpr std::int64_t tolerance = 4;

    template <class IsResident>
    static bool extends(Sweep& sweep, std::int64_t first, std::int64_t last, Nanos now,
                        IsResident is_resident) {
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
