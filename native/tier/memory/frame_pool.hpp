#pragma once

#include "tier/memory/budget.hpp"
#include "tier/memory/chunk_sizes.hpp"
#include "tier/memory/frame_allocator.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace assay::tier {

/// Memory for chunks of all sizes, as much as there is altogether: what is free of one size is there for all
/// of them. Where other processes share it, it is taken as it is needed.
class Pool {
  public:
    /// \param most bytes, a multiple of the largest chunk.
    /// \param budget that it is of; where there is none, all of it is there from the beginning.
    /// \throws what Frames does.
    Pool(Exchange exchange, const Sizes& sizes, std::size_t most, Budget* budget, Placement& placement);

    /// A frame for so many bytes, or null where nothing is left.
    ///
    /// \param node that whoever it is for would have it on. \param zero set to whether it holds zeros.
    [[nodiscard]] std::byte* take(std::size_t bytes, Node node, bool& zero);
    /// A mapped chunk and its pages are gone.
    void gone(std::size_t bytes) { unmade_bytes_ += bytes; }
    /// So much of it is for other things than frames, as soon as it is free.
    void set_aside(std::size_t bytes);
    /// The frames of one size.
    [[nodiscard]] Frames& of(std::size_t bytes) { return *frames_[sizes_.level_of(bytes)]; }

    [[nodiscard]] const Sizes& sizes() const { return sizes_; }
    [[nodiscard]] std::size_t chunk() const { return sizes_.largest(); }
    [[nodiscard]] std::size_t most_bytes() const { return most_bytes_; }
    /// Bytes that can still be taken.
    [[nodiscard]] std::size_t left_bytes() const {
        const std::size_t left = own_left_bytes() + (budget_ == nullptr ? 0 : budget_->left_bytes());
        return left - std::min(left, wanted_aside_ - std::min(wanted_aside_, aside_bytes_));
    }
    /// Those that others cannot take first.
    [[nodiscard]] std::size_t own_left_bytes() const;
    /// Others may have the memory of a chunk. \returns false where so much is not left.
    [[nodiscard]] bool give_back();

  private:
    [[nodiscard]] bool unmake(std::size_t bytes);
    [[nodiscard]] bool find(std::size_t bytes);

    Budget* budget_;
    Placement& placement_;
    Sizes sizes_;
    std::size_t most_bytes_;
    std::size_t unmade_bytes_; ///< That no frame is made of yet.
    std::size_t aside_bytes_ = 0, wanted_aside_ = 0;
    std::array<std::optional<Frames>, Sizes::most> frames_;
    std::array<Node, Sizes::most> last_{}; ///< Of each size, where the last was to come from.
};

} // namespace assay::tier
