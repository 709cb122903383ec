#include "tier/residence.hpp"

#include <algorithm>

namespace assay::tier {

namespace {

/// Of what memory holds, the part that only passes through, and the part that is kept for a while unmapped.
constexpr std::size_t passing_part = 32, aside_part = 32;
/// No instruction touches as many chunks at once, and each of them has to be there at the same time.
constexpr std::size_t least = 4;

} // namespace

void Residence::fit(std::size_t most) {
    most_ = most;
    few_passing_ = std::max(most / passing_part, least * chunk_);
    few_aside_ = std::max(most / aside_part, chunk_);
}

Queue& Residence::queue(Chunk::Place place) {
    switch (place) {
    case Chunk::Place::main:
        return main_;
    case Chunk::Place::passing:
        return passing_;
    case Chunk::Place::aside:
        return aside_;
    default:
        return ahead_;
    }
}

void Residence::enter(Chunk& chunk, Chunk::Place place) {
    left(chunk);
    chunk.place = place;
    queue(place).add(chunk);
}

void Residence::left(Chunk& chunk) {
    if (chunk.place == Chunk::Place::none) return;
    queue(chunk.place).remove(chunk);
    chunk.place = Chunk::Place::none;
}

void Residence::came(Chunk& chunk, bool again) {
    judge(chunk.bytes, again);
    if (retains_ && ++since_let_in_ < one_of) return enter(chunk, Chunk::Place::passing);
    since_let_in_ = 0;
    enter(chunk, Chunk::Place::main);
}

/// An average over about a quarter of what memory holds. Two levels, so that it does not change its mind at
/// each.
void Residence::judge(std::size_t bytes, bool again) {
    const double weight = static_cast<double>(bytes) / static_cast<double>(std::max(most_ / 4, few_passing_));
    again_share_ += weight * ((again ? 1.0 : 0.0) - again_share_);
    if (!retains_ && again_share_ > 0.5) retains_ = true;
    if (retains_ && again_share_ < 0.25) retains_ = false;
}

void Residence::used_again(Chunk& chunk) {
    enter(chunk, Chunk::Place::main);
}

void Residence::set_aside(Chunk& chunk) {
    enter(chunk, Chunk::Place::aside);
}

void Residence::postpone(Chunk& chunk) {
    const Chunk::Place place = chunk.place;
    if (place != Chunk::Place::none) enter(chunk, place);
}

Chunk* Residence::next_to_unmap() const {
    // What came last stays: an instruction may need several chunks.
    if (main_.size() + passing_.size() <= least) return nullptr;
    return passing_.bytes() > few_passing_ || main_.empty() ? passing_.front() : main_.front();
}

} // namespace assay::tier
