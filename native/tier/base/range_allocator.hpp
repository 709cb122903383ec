#pragma once

#include "tier/base/table.hpp"

#include <cstddef>

namespace assay::tier {

/// First-fit allocator of consecutive integers.
class RangeAllocator {
  public:
    /// \param max maximum number of free ranges.
    explicit RangeAllocator(std::size_t max) : free_(max) {}

    /// Allocate consecutive numbers. \param first receives the first one. \returns false if no free range is
    /// long enough.
    [[nodiscard]] bool take(std::size_t count, std::size_t& first);
    /// Add numbers to the free ranges, initially or after use.
    void release(std::size_t first, std::size_t count);

  private:
    struct Range {
        std::size_t first, count;
    };

    Table<Range> free_;
};

} // namespace assay::tier
