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
class FramePool {
  public:
    /// \param most bytes, a multiple of the largest chunk.
    /// \param budget that it is of; where there is none, all of it is there from the beginning.
    /// \throws what Frames does.
    FramePool(MapMethod map_method, const ChunkSizes& sizes, std::size_t max, Budget* budget,
              Placement& placement);

    /// A frame for so many bytes, or null where nothing is left.
    ///
    /// \param node that whoever it is for would have it on. \param zero set to whether it holds zeros.
    [[nodiscard]] std::byte* take(std::size_t bytes, Node node, bool& zero);
    /// A mapped chunk and its pages are gone.
    void release(std::size_t bytes) { unassigned_bytes_ += bytes; }
    /// So much of it is for other things than frames, as soon as it is free.
    void reserve_metadata(std::size_t bytes);
    /// The frames of one size.
    [[nodiscard]] FrameAllocator& of(std::size_t bytes) { return *frames_[sizes_.level_of(bytes)]; }

    [[nodiscard]] const ChunkSizes& sizes() const { return sizes_; }
    [[nodiscard]] std::size_t chunk_bytes() const { return sizes_.largest(); }
    [[nodiscard]] std::size_t max_bytes() const { return max_bytes_; }
    /// Bytes that can still be taken.
    [[nodiscard]] std::size_t free_bytes() const {
        const std::size_t left = own_free_bytes() + (budget_ == nullptr ? 0 : budget_->free_bytes());
        return left - std::min(left, wanted_metadata_ - std::min(wanted_metadata_, metadata_bytes_));
    }
    /// Those that others cannot take first.
    [[nodiscard]] std::size_t own_free_bytes() const;
    /// Others may have the memory of a chunk. \returns false where so much is not left.
    [[nodiscard]] bool return_to_budget();

  private:
    [[nodiscard]] bool collect_free(std::size_t bytes);
    [[nodiscard]] bool obtain(std::size_t bytes);

    Budget* budget_;
    Placement& placement_;
    ChunkSizes sizes_;
    std::size_t max_bytes_;
    std::size_t unassigned_bytes_; ///< That no frame is made of yet.
    std::size_t metadata_bytes_ = 0, wanted_metadata_ = 0;
    std::array<std::optional<FrameAllocator>, ChunkSizes::max> frames_;
    std::array<Node, ChunkSizes::max> last_node_{}; ///< Of each size, where the last was to come from.
};

} // namespace assay::tier
