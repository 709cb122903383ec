#pragma once

#include "tier/budget.hpp"
#include "tier/frames.hpp"

#include <cstddef>

namespace assay::tier {

/// Memory for chunks and for parts of them, as much as there is altogether: what one kind does not use is
/// lent to the other. Where other processes share it, it is taken as it is needed.
class Pool {
  public:
    /// \param part bytes of a chunk's parts; as many as a chunk has where there are none.
    /// \param budget that it is of; where there is none, all of it is there from the beginning.
    /// \throws what Frames does.
    Pool(Exchange exchange, std::size_t chunk, std::size_t part, std::size_t most, Budget* budget);

    /// A frame for so many bytes, or null where nothing is left. \param zero set to whether it holds zeros.
    [[nodiscard]] std::byte* take(std::size_t bytes, bool& zero);
    /// The frames of one size.
    [[nodiscard]] Frames& of(std::size_t bytes) { return bytes == chunk() ? chunks_ : parts_; }

    [[nodiscard]] std::size_t chunk() const { return chunks_.bytes(); }
    [[nodiscard]] std::size_t part() const { return parts_.bytes(); }
    [[nodiscard]] std::size_t most_bytes() const { return most_bytes_; }
    /// Bytes that can still be taken.
    [[nodiscard]] std::size_t left_bytes() const {
        return own_left_bytes() + (budget_ == nullptr ? 0 : budget_->left_bytes());
    }
    /// Those that others cannot take first.
    [[nodiscard]] std::size_t own_left_bytes() const {
        return chunks_.left() * chunk() + (part() == chunk() ? 0 : parts_.left() * part());
    }
    /// Others may have the memory of a chunk. \returns false where so much is not left.
    [[nodiscard]] bool give_back();

  private:
    void more(bool whole);

    Budget* budget_;
    std::size_t ratio_, most_bytes_;
    Frames chunks_, parts_;
};

} // namespace assay::tier
