#pragma once

#include "tier/frames.hpp"

#include <cstddef>

namespace assay::tier {

/// Memory for chunks and for parts of them, as much as the budget says altogether: what one kind does not
/// use is lent to the other.
class Pool {
  public:
    /// \param part bytes of a chunk's parts; as many as a chunk has where there are none.
    /// \throws what Frames does.
    Pool(Exchange exchange, std::size_t chunk, std::size_t part, std::size_t most);

    /// A frame for so many bytes, or null where nothing is left. \param zero set to whether it holds zeros.
    [[nodiscard]] std::byte* take(std::size_t bytes, bool& zero);
    /// The frames of one size.
    [[nodiscard]] Frames& of(std::size_t bytes) { return bytes == chunk() ? chunks_ : parts_; }

    [[nodiscard]] std::size_t chunk() const { return chunks_.bytes(); }
    [[nodiscard]] std::size_t part() const { return parts_.bytes(); }
    [[nodiscard]] std::size_t most_bytes() const { return most_bytes_; }
    /// Bytes that can still be taken.
    [[nodiscard]] std::size_t left_bytes() const {
        return chunks_.left() * chunk() + (part() == chunk() ? 0 : parts_.left() * part());
    }

  private:
    std::size_t ratio_, most_bytes_;
    Frames chunks_, parts_;
};

} // namespace assay::tier
