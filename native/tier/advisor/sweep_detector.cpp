#include "tier/advisor/sweep_detector.hpp"

#include <algorithm>
#include <utility>

namespace assay::tier {

Sweep SweepDetector::match_candidate(std::int64_t first, std::int64_t last, Nanos now) {
    for (Candidate& one : candidates_) {
        if (first > one.last + 1 || last < one.first - 1) continue;
        const bool upwards = last > one.last, downwards = first < one.first;
        const Candidate before = one;
        if (upwards == downwards) {
            one = {std::min(first, one.first), std::max(last, one.last)};
            return {};
        }
        one = {};
        return upwards ? start_sweep(before.first, last, 1, now) : start_sweep(before.last, first, -1, now);
    }
    newest_ = (newest_ + 1) % max_candidates;
    candidates_[newest_] = {first, last};
    return {};
}

Sweep SweepDetector::start_sweep(std::int64_t first, std::int64_t head, std::int64_t step, Nanos now) {
    Sweep& place = *std::ranges::min_element(sweeps_, {}, &Sweep::moved_at);
    return std::exchange(place, {.first = first,
                                 .head = head,
                                 .step = step,
                                 .prefetched_to = head,
                                 .evicted_to = first - step,
                                 .moved_at = now});
}

} // namespace assay::tier
