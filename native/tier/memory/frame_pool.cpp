#include "tier/memory/frame_pool.hpp"

namespace assay::tier {

Pool::Pool(Exchange exchange, const Sizes& sizes, std::size_t most, Budget* budget, Placement& placement)
    : budget_(budget), placement_(placement), sizes_(sizes), most_bytes_(most),
      unmade_bytes_(budget == nullptr ? most : 0) {
    for (std::size_t i = 0; i < sizes_.size(); ++i)
        frames_[i].emplace(exchange, sizes_[i], most / sizes_[i], placement);
}

std::byte* Pool::take(std::size_t bytes, Node node, bool& zero) {
    Frames& wanted = of(bytes);
    // In turn among those of a size: sizes may come in turn themselves.
    Node& last = last_[sizes_.level_of(bytes)];
    const Node from = placement_.next(node, last);
    std::byte* frame = wanted.take(from);
    // One of another node is as good, but where each thread is to have its own: then that one is given up,
    // and the kernel has one more to give.
    if (frame == nullptr && unmade_bytes_ < bytes && !placement_.insists(from)) frame = wanted.take();
    zero = frame == nullptr;
    if (zero) {
        if (!find(bytes)) return nullptr;
        unmade_bytes_ -= bytes;
        frame = wanted.make(placement_.source(from));
    }
    last = from;
    return frame;
}

/// So much is to be had that no frame is made of.
bool Pool::unmake(std::size_t bytes) {
    for (std::size_t i = 0; i < sizes_.size(); ++i)
        while (unmade_bytes_ < bytes && frames_[i]->unmake()) unmade_bytes_ += sizes_[i];
    return unmade_bytes_ >= bytes;
}

/// The same, or as much of what the others do not use.
bool Pool::find(std::size_t bytes) {
    if (unmake(bytes)) return true;
    if (budget_ == nullptr || !budget_->take(chunk())) return false;
    unmade_bytes_ += chunk();
    return true;
}

void Pool::set_aside(std::size_t bytes) {
    wanted_aside_ = (bytes + chunk() - 1) / chunk() * chunk();
    while (aside_bytes_ < wanted_aside_ && find(chunk())) {
        unmade_bytes_ -= chunk();
        aside_bytes_ += chunk();
    }
    if (aside_bytes_ > wanted_aside_) unmade_bytes_ += aside_bytes_ - wanted_aside_;
    aside_bytes_ = std::min(aside_bytes_, wanted_aside_);
}

std::size_t Pool::own_left_bytes() const {
    std::size_t left = unmade_bytes_;
    for (std::size_t i = 0; i < sizes_.size(); ++i) left += frames_[i]->free_bytes();
    return left;
}

bool Pool::give_back() {
    if (!unmake(chunk())) return false;
    unmade_bytes_ -= chunk();
    budget_->give(chunk());
    return true;
}

} // namespace assay::tier
