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
    // In turn among those of a size: sizes may come in turn themselves.
    Node& last = last_node_[sizes_.level_of(bytes)];
    const Node from = placement_.next(node, last);
    std::byte* frame = wanted.take(from);
    // One of another node is as good, but where each thread is to have its own: then that one is given up,
    // and the kernel has one more to give.
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

/// So much is to be had that no frame is made of.
bool FramePool::collect_free(std::size_t bytes) {
    for (std::size_t i = 0; i < sizes_.size(); ++i)
        while (unassigned_bytes_ < bytes && frames_[i]->destroy()) unassigned_bytes_ += sizes_[i];
    return unassigned_bytes_ >= bytes;
}

/// The same, or as much of what the others do not use.
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
