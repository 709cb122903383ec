#include "tier/memory/frame_pool.hpp"

namespace assay::tier {

FramePool::FramePool(MapMethod map_method, const ChunkSizes& sizes, std::size_t max, Budget* budget,
                     Placement& placement)
    : budget_(budget), placement_(placement), sizes_(sizes), max_bytes_(max),
      unassigned_bytes_(budget == nullptr ? max : 0) {
    for (std::size_t i = 0; i < sizes_.size(); ++i)
        frames_[i].emplace(map_method, sizes_[i], max / sizes_[i], placement);
}

std::byte* FramePool::take(std::size_t bytes, Node node, bool& zero) {
    FrameAllocator& wanted = of(bytes);
    // Interleave each size separately, because sizes may alternate themselves.
    Node& last = last_node_[sizes_.level_of(bytes)];
    const Node from = placement_.next(node, last);
    std::byte* frame = wanted.take(from);
    // A frame of another node is equally good, unless threads require their own node: then the frame is
    // destroyed, and the kernel allocates a new one.
    if (frame == nullptr && unassigned_bytes_ < bytes && !placement_.is_strict(from)) frame = wanted.take();
    zero = frame == nullptr;
    if (zero) {
        if (!obtain(bytes)) return nullptr;
        unassigned_bytes_ -= bytes;
        frame = wanted.create(placement_.allocation_node(from));
    }
    last = from;
    return frame;
}

/// Destroy free frames until a number of bytes is unassigned.
bool FramePool::collect_free(std::size_t bytes) {
    for (std::size_t i = 0; i < sizes_.size(); ++i)
        while (unassigned_bytes_ < bytes && frames_[i]->destroy()) unassigned_bytes_ += sizes_[i];
    return unassigned_bytes_ >= bytes;
}

/// Obtain unassigned bytes from free frames or from the shared budget.
bool FramePool::obtain(std::size_t bytes) {
    if (collect_free(bytes)) return true;
    if (budget_ == nullptr || !budget_->take(chunk_bytes())) return false;
    unassigned_bytes_ += chunk_bytes();
    return true;
}

void FramePool::reserve_metadata(std::size_t bytes) {
    wanted_metadata_ = (bytes + chunk_bytes() - 1) / chunk_bytes() * chunk_bytes();
    while (metadata_bytes_ < wanted_metadata_ && obtain(chunk_bytes())) {
        unassigned_bytes_ -= chunk_bytes();
        metadata_bytes_ += chunk_bytes();
    }
    if (metadata_bytes_ > wanted_metadata_) unassigned_bytes_ += metadata_bytes_ - wanted_metadata_;
    metadata_bytes_ = std::min(metadata_bytes_, wanted_metadata_);
}

std::size_t FramePool::own_free_bytes() const {
    std::size_t left = unassigned_bytes_;
    for (std::size_t i = 0; i < sizes_.size(); ++i) left += frames_[i]->free_bytes();
    return left;
}

bool FramePool::return_to_budget() {
    if (!collect_free(chunk_bytes())) return false;
    unassigned_bytes_ -= chunk_bytes();
    budget_->release(chunk_bytes());
    return true;
}

} // namespace assay::tier
