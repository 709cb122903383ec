#include "tier/advisor/sweep_detector.hpp"

#include <algorithm>
#include <utility>

namespace assay::tier {

Front Fronts::consider(std::int64_t first, std::int64_t last, Nanos now) {
    for (Candidate& one : candidates_) {
        if (first > one.last + 1 || last < one.first - 1) continue;
        const bool upwards = last > one.last, downwards = first < one.first;
        const Candidate before = one;
        if (upwards == downwards) {
            one = {std::min(first, one.first), std::max(last, one.last)};
            return {};
        }
        one = {};
        return upwards ? begin_front(before.first, last, 1, now) : begin_front(before.last, first, -1, now);
    }
    newest_ = (newest_ + 1) % most_candidates;
    candidates_[newest_] = {first, last};
    return {};
}

Front Fronts::begin_front(std::int64_t first, std::int64_t head, std::int64_t step, Nanos now) {
    Front& place = *std::ranges::min_element(fronts_, {}, &Front::moved);
    return std::exchange(
        place,
        {.first = first, .head = head, .step = step, .asked = head, .left = first - step, .moved = now});
}

} // namespace assay::tier
