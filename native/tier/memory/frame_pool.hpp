#pragma once

#include "tier/memory/budget.hpp"
#include "tier/memory/chunk_sizes.hpp"
#include "tier/memory/frame_allocator.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace assay::tier {

/// Pool of frames of all sizes. Memory that is free at one size serves all others. Memory of a shared budget
/// is taken on demand.
class FramePool {
  public:
    /// \param max capacity in bytes, a multiple of the largest chunk.
    /// \param budget shared budget; without one, all memory belongs to this process from the beginning.
    /// \throws exceptions of FrameAllocator.
    FramePool(MapMethod map_method, const ChunkSizes& sizes, std::size_t max, Budget* budget,
              Placement& placement);

    /// Take a frame; null if no memory is left.
    ///
    /// \param node preferred node. \param zero set to true if the frame contains zeros.
    [[nodiscard]] std::byte* take(std::size_t bytes, Node node, bool& zero);
    /// Account a mapped chunk whose pages the kernel has freed.
    void release(std::size_t bytes) { unassigned_bytes_ += bytes; }
    /// Reserve memory for metadata, as soon as it is free.
    void reserve_metadata(std::size_t bytes);
    /// Return the allocator of one size.
    [[nodiscard]] FrameAllocator& of(std::size_t bytes) { return *frames_[sizes_.level_of(bytes)]; }

    [[nodiscard]] const ChunkSizes& sizes() const { return sizes_; }
    [[nodiscard]] std::size_t chunk_bytes() const { return sizes_.largest(); }
    [[nodiscard]] std::size_t max_bytes() const { return max_bytes_; }
    /// Return the bytes that can still be taken.
    [[nodiscard]] std::size_t free_bytes() const {
        const std::size_t left = own_free_bytes() + (budget_ == nullptr ? 0 : budget_->free_bytes());
        return left - std::min(left, wanted_metadata_ - std::min(wanted_metadata_, metadata_bytes_));
    }
    /// Return the free bytes that other processes cannot take.
    [[nodiscard]] std::size_t own_free_bytes() const;
    /// Return the memory of one chunk to the budget. \returns false if less is free.
    [[nodiscard]] bool return_to_budget();

  private:
    [[nodiscard]] bool collect_free(std::size_t bytes);
    [[nodiscard]] bool obtain(std::size_t bytes);

    Budget* budget_;
    Placement& placement_;
    ChunkSizes sizes_;
    std::size_t max_bytes_;
    std::size_t unassigned_bytes_; ///< Not assigned to a frame size.
    std::size_t metadata_bytes_ = 0, wanted_metadata_ = 0;
    std::array<std::optional<FrameAllocator>, ChunkSizes::max> frames_;
    std::array<Node, ChunkSizes::max> last_node_{}; ///< Node of the last request, for each chunk size.
};

} // namespace assay::tier
