#pragma once

#include "tier/base/sys.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::tier {

/// Sizes of chunks, their parts, and the parts of those: powers of two in descending order.
class ChunkSizes {
  public:
    static constexpr std::size_t max = 3;
    static constexpr std::size_t max_parts = 64; ///< Parts of a chunk; FetchGranularity keeps a bit for each.

    /// \param part preferred size of parts. \param min smallest fetch, in bytes: chunks are split repeatedly,
    ///     into at most `max_parts` parts each time.
    ChunkSizes(std::size_t chunk, std::size_t part, std::size_t min) {
        bytes_[count_++] = chunk;
        for (const std::size_t wanted : {part, min})
            if (const std::size_t next = std::max({wanted, bytes_[count_ - 1] / max_parts, min, page});
                next < bytes_[count_ - 1])
                bytes_[count_++] = next;
    }

    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::size_t operator[](std::size_t level) const { return bytes_[level]; }
    [[nodiscard]] std::size_t largest() const { return bytes_[0]; }
    [[nodiscard]] std::size_t smallest() const { return bytes_[count_ - 1]; }
    /// Return the level of a size; level 0 is the largest.
    [[nodiscard]] std::size_t level_of(std::size_t bytes) const {
        std::size_t level = 0;
        while (bytes_[level] > bytes) ++level;
        return level;
    }

  private:
    std::array<std::size_t, max> bytes_{};
    std::size_t count_ = 0;
};

} // namespace assay::tier
