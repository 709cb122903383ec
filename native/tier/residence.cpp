#include "tier/residence.hpp"

#include <algorithm>

namespace assay::tier {

namespace {

/// Of what memory holds, the part that only passes through, and the part that is kept for a while unmapped.
constexpr std::size_t passing_part = 32, aside_part = 32;
/// What comes again before such a part of memory was brought is near.
constexpr std::size_t near_part = 2;
/// No instruction touches as many chunks at once, and each of them has to be there at the same time.
constexpr std::size_t least = 4;

} // namespace

void Residence::fit(std::size_t most) {
    most_ = most;
    narrow();
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
    judge(chunk, again);
    came_ += chunk.bytes();
    chunk.came = static_cast<std::uint32_t>(came_ / unit);
    if (retains_ && ++since_let_in_ < one_of) return enter(chunk, Chunk::Place::passing);
    since_let_in_ = 0;
    enter(chunk, Chunk::Place::main);
}

/// An average over about a quarter of what memory holds. Two levels, so that it does not change its mind at
/// each.
void Residence::judge(const Chunk& chunk, bool again) {
    const double weight =
        static_cast<double>(chunk.bytes()) / static_cast<double>(std::max(most_ / 4, least * chunk_));
    again_share_ += weight * ((again ? 1.0 : 0.0) - again_share_);
    if (!retains_ && again_share_ > 0.5) retains_ = true;
    if (retains_ && again_share_ < 0.25) retains_ = false;
    const std::size_t since = (static_cast<std::uint32_t>(came_ / unit) - chunk.came) * unit;
    const bool near = again && since <= most_ / near_part;
    near_share_ += weight * ((near ? 1.0 : 0.0) - near_share_);
    if (near) near_bytes_ += weight * (static_cast<double>(since) - near_bytes_);
    if (came_ >= decide_at_) fit_passing();
}

void Residence::fit_passing() {
    constexpr std::size_t longest_pause = 64, window = 3, enough = 4;
    if (wide_ > 0 && (!retains_ || touched_ < wide_ / enough)) {
        // Touches did not come: it is a sweep, or what was near is no more. It is not tried again soon.
        narrow();
        pause_ = std::min(4 * std::max(pause_, most_), longest_pause * most_);
        decide_at_ = came_ + pause_;
    } else if (retains_ && (wide_ > 0 || near_share_ > 0.5)) {
        if (wide_ > 0) pause_ = 0;
        if (near_share_ > 0.5) widen();
        touched_ = 0;
        decide_at_ = came_ + window * wide_;
    }
}

/// As much as came before what was near came again, and half as much for what is set aside meanwhile.
void Residence::widen() {
    const auto wanted = static_cast<std::size_t>(1.5 * near_bytes_);
    wide_ = std::clamp(wanted, few_passing_ + few_aside_, most_ * 3 / 4);
    few_passing_ = wide_ * 2 / 3;
    few_aside_ = wide_ / 3;
}

void Residence::narrow() {
    wide_ = 0;
    few_passing_ = std::max(most_ / passing_part, least * chunk_);
    few_aside_ = std::max(most_ / aside_part, chunk_);
    // What is there stays, as at the beginning.
    while (passing_.bytes() > few_passing_) enter(*passing_.front(), Chunk::Place::main);
}

void Residence::used_again(Chunk& chunk) {
    touched_ += chunk.bytes();
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
