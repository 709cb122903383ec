#include "tier/pool.hpp"

namespace assay::tier {

Pool::Pool(Exchange exchange, const Sizes& sizes, std::size_t most, Budget* budget)
    : budget_(budget), sizes_(sizes), most_bytes_(most), unmade_bytes_(budget == nullptr ? most : 0) {
    for (std::size_t i = 0; i < sizes_.size(); ++i) frames_[i].emplace(exchange, sizes_[i], most / sizes_[i]);
}

std::byte* Pool::take(std::size_t bytes, bool& zero) {
    Frames& wanted = of(bytes);
    zero = false;
    if (std::byte* const frame = wanted.take(); frame != nullptr) return frame;
    if (!find(bytes)) return nullptr;
    zero = true;
    unmade_bytes_ -= bytes;
    return wanted.make();
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
