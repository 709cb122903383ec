#include "tier/base/range_allocator.hpp"

namespace assay::tier {

bool RangeAllocator::take(std::size_t count, std::size_t& first) {
    for (std::size_t i = 0; i < free_.size(); ++i) {
        Range& range = free_[i];
        if (range.count < count) continue;
        first = range.first;
        range.first += count;
        range.count -= count;
        if (range.count == 0) free_.remove(i);
        return true;
    }
    return false;
}

void RangeAllocator::release(std::size_t first, std::size_t count) {
    std::size_t i = 0;
    while (i < free_.size() && free_[i].first < first) ++i;
    const bool joins_before = i > 0 && free_[i - 1].first + free_[i - 1].count == first;
    const bool joins_after = i < free_.size() && first + count == free_[i].first;
    if (joins_before) {
        free_[i - 1].count += count + (joins_after ? free_[i].count : 0);
        if (joins_after) free_.remove(i);
    } else if (joins_after) {
        free_[i].first = first;
        free_[i].count += count;
    } else {
        free_.insert(i, Range{first, count});
    }
}

} // namespace assay::tier
