#pragma once

#include "tier/base/table.hpp"

#include <cstddef>

namespace assay::tier {

/// Numbers that are free, in order; what is asked for is taken from the first place where it is in one piece.
class RangeAllocator {
  public:
    /// \param most pieces that the free numbers may lie in.
    explicit RangeAllocator(std::size_t max) : free_(max) {}

    /// \returns false where no piece is long enough.
    [[nodiscard]] bool take(std::size_t count, std::size_t& first);
    /// At first all that there are; later what was taken.
    void release(std::size_t first, std::size_t count);

  private:
    struct Range {
        std::size_t first, count;
    };

    Table<Range> free_;
};

} // namespace assay::tier
