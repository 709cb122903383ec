#pragma once

#include "tier/base/sys.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::tier {

/// Bytes of a chunk, of the parts that it may be split into, and of theirs: powers of two, the largest first.
class ChunkSizes {
  public:
    static constexpr std::size_t max = 3;
    static constexpr std::size_t max_parts = 64; ///< Of one chunk: see Grain.

    /// \param least bytes that are brought at a time: a chunk is split as often as it takes, into no more
    ///     parts than `most_parts` each time. Parts of chunks are of `part` bytes, where that is possible.
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
    /// Where one of so many bytes is among them.
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
