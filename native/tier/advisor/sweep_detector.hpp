#pragma once

#include "common/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Where a program goes through its memory, upwards or downwards; in granules.
struct Front {
    std::int64_t first = 0; ///< Where it began.
    std::int64_t head = 0;  ///< Where it has come to.
    std::int64_t step = 1;  ///< Or -1, downwards.
    std::int64_t asked = 0; ///< What has been asked for lies between the head and this.
    std::int64_t left = 0;  ///< What lies behind it has been decided on up to here.
    Nanos moved = 0;        ///< When it did last; 0: there is no front here.

    /// So far ahead of the head; negative behind it.
    [[nodiscard]] std::int64_t ahead(std::int64_t granule) const { return step * (granule - head); }
    /// It asks for as much as it has gone already: what is short is not overshot by more than its length.
    [[nodiscard]] std::int64_t window(std::int64_t most) const {
        const std::int64_t gone = step * (head - first) + 1;
        return gone < most ? gone : most;
    }
};

/// Fronts that show in what was touched between one look and the next.
///
/// What was touched in one look is a run of granules, whose direction nobody knows; where the next run
/// adjoins it, that is a front.
class Fronts {
  public:
    static constexpr std::size_t most = 16;
    static constexpr std::int64_t most_passed_over = 4096;

    /// Granules from one to another were touched.
    ///
    /// \param whole whether a granule is in memory altogether, so that a front passes it without a sign.
    /// \returns the front that had to make room for another; one that never moved where none had to.
    template <class Whole>
    Front saw(std::int64_t first, std::int64_t last, Nanos now, Whole whole) {
        for (Front& front : fronts_)
            if (front.moved != 0 && goes_on(front, first, last, now, whole)) return {};
        return consider(first, last, now);
    }

    [[nodiscard]] Front* begin() { return fronts_.data(); }
    [[nodiscard]] Front* end() { return fronts_.data() + fronts_.size(); }

  private:
    static constexpr std::size_t most_candidates = 32;
    static constexpr std::int64_t near = 4;

    template <class Whole>
    static bool goes_on(Front& front, std::int64_t first, std::int64_t last, Nanos now, Whole whole) {
        const std::int64_t begin = front.step > 0 ? first : last, end = front.step > 0 ? last : first;
        if (front.ahead(begin) < -near || front.ahead(begin) > most_passed_over) return false;
        for (std::int64_t i = 1; i < front.ahead(begin); ++i)
            if (!whole(front.head + i * front.step)) return false;
        if (front.ahead(end) > 0) front.head = end;
        front.moved = now;
        return true;
    }
    Front consider(std::int64_t first, std::int64_t last, Nanos now);
    Front begin_front(std::int64_t first, std::int64_t head, std::int64_t step, Nanos now);

    struct Candidate {
        std::int64_t first = -1, last = -2;
    };

    std::array<Front, most> fronts_{};
    std::array<Candidate, most_candidates> candidates_{};
    std::size_t newest_ = 0;
};

} // namespace assay::tier
