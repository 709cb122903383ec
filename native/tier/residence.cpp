#include "tier/residence.hpp"

#include <algorithm>
#include <utility>

namespace assay::tier {

namespace {

/// Of what memory holds, the part that only passes through, and the part that is kept for a while unmapped.
constexpr std::size_t passing_part = 32, aside_part = 32;
/// Of a sweep, nothing that was unmapped is touched before all else was.
constexpr std::size_t aside_part_of_sweep = 128;

bool is_mapped(const Chunk& chunk) {
    return chunk.place == Chunk::Place::main || chunk.place == Chunk::Place::passing;
}

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
    take_out(chunk);
    chunk.place = place;
    queue(place).add(chunk);
    if (future_ == nullptr) return;
    if (place == Chunk::Place::passing)
        future_->stays(chunk);
    else
        future_->came(chunk, place == Chunk::Place::main);
}

void Residence::take_out(Chunk& chunk) {
    if (chunk.place == Chunk::Place::none) return;
    queue(chunk.place).remove(chunk);
    chunk.place = Chunk::Place::none;
}

void Residence::left(Chunk& chunk) {
    take_out(chunk);
    chunk.streak = 0;
    chunk.spared = 0;
    if (future_ != nullptr) future_->left(chunk);
}

void Residence::foresee(Future* future, std::size_t newest) {
    future_ = future;
    few_newest_ = newest;
}

void Residence::surprised() {
    constexpr std::size_t chunks = 16;
    few_newest_ = std::max(few_newest_, std::min({few_newest_ + chunk_, chunks * chunk_, most_ / 4}));
}

/// What is new passes on to the others, of which one is chosen that is to go.
void Residence::came_foreseen(Chunk& chunk) {
    enter(chunk, Chunk::Place::passing);
    while (passing_.bytes() > few_newest_ && passing_.size() > least)
        enter(*passing_.front(), Chunk::Place::main);
}

Chunk* Residence::touched_last() const {
    if (future_ == nullptr) return nullptr;
    const auto found = future_->last();
    if (!found) return nullptr;
    Chunk& chunk = found->region->piece_at(found->at, found->level);
    return chunk.place == Chunk::Place::none ? nullptr : &chunk;
}

void Residence::came(Chunk& chunk, bool again) {
    judge(chunk, again);
    came_ += chunk.bytes();
    chunk.came = static_cast<std::uint32_t>(came_ / unit);
    if (future_ != nullptr) return came_foreseen(chunk);
    passed_ = retains_ ? passed_ + chunk.bytes() : 0;
    const bool passes = retains_ && passed_ < one_of * chunk.bytes();
    if (retains_ && !passes) passed_ -= one_of * chunk.bytes();
    enter(chunk, passes ? Chunk::Place::passing : Chunk::Place::main);
}

/// An average over about a quarter of what memory holds. Two levels, so that it does not change its mind at
/// each.
void Residence::judge(const Chunk& chunk, bool again) {
    const double weight =
        static_cast<double>(chunk.bytes()) / static_cast<double>(std::max(most_ / 4, least * chunk_));
    again_share_ += weight * ((again ? 1.0 : 0.0) - again_share_);
    if (again_share_ > 0.5) retain(true);
    if (again_share_ < 0.25) retain(false);
    const std::size_t since = (static_cast<std::uint32_t>(came_ / unit) - chunk.came) * unit;
    const bool near = again && since <= most_ / near_part;
    near_share_ += weight * ((near ? 1.0 : 0.0) - near_share_);
    if (came_ >= decide_at_) fit_passing();
}

void Residence::retain(bool retains) {
    if (std::exchange(retains_, retains) == retains) return;
    if (wide_ == 0) narrow();
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

/// A quarter of memory, and half of it for what is set aside meanwhile, whose touches show what is used: what
/// stays in the rest is soon what nobody
/// uses any more.
void Residence::widen() {
    wide_ = most_ * 3 / 4;
    few_passing_ = wide_ / 3;
    few_aside_ = wide_ * 2 / 3;
}

void Residence::narrow() {
    wide_ = 0;
    few_passing_ = std::max(most_ / passing_part, least * chunk_);
    few_aside_ = std::max(most_ / (retains_ ? aside_part_of_sweep : aside_part), chunk_);
    // What is there stays, as at the beginning.
    while (passing_.bytes() > few_passing_) enter(*passing_.front(), Chunk::Place::main);
}

void Residence::used_again(Chunk& chunk) {
    touched_ += chunk.bytes();
    if (future_ != nullptr) return came_foreseen(chunk);
    constexpr unsigned longest = 3;
    chunk.streak = std::min(chunk.streak + 1U, longest) & longest;
    chunk.spared = chunk.streak;
    enter(chunk, Chunk::Place::main);
}

void Residence::set_aside(Chunk& chunk) {
    enter(chunk, Chunk::Place::aside);
}

void Residence::postpone(Chunk& chunk) {
    const Chunk::Place place = chunk.place;
    if (place != Chunk::Place::none) enter(chunk, place);
    if (future_ != nullptr) future_->left(chunk);
}

Chunk* Residence::oldest_mapped() const {
    if (main_.size() + passing_.size() <= least) return nullptr;
    Chunk* const stays = main_.front();
    Chunk* const passes = passing_.front();
    if (stays == nullptr || passes == nullptr) return stays == nullptr ? passes : stays;
    return static_cast<std::int32_t>(stays->came - passes->came) < 0 ? stays : passes;
}

Chunk* Residence::next_to_leave() const {
    if (Chunk* const last = touched_last(); last != nullptr && !is_mapped(*last)) return last;
    return aside_.bytes() > few_aside_ ? aside_.front() : nullptr;
}

/// A few at a time; where all are used, one of them goes.
void Residence::pass_over_spared() {
    constexpr int most = 64;
    for (int i = 0; i < most && !main_.empty() && main_.front()->spared > 0; ++i) {
        Chunk& chunk = *main_.front();
        --chunk.spared;
        main_.remove(chunk);
        main_.add(chunk);
    }
}

Chunk* Residence::next_to_unmap() {
    if (Chunk* const last = touched_last(); last != nullptr && is_mapped(*last)) return last;
    // What came last stays: an instruction may need several chunks.
    if (main_.size() + passing_.size() <= least) return nullptr;
    if (passing_.bytes() > few_passing_) return passing_.front();
    pass_over_spared();
    return main_.empty() ? passing_.front() : main_.front();
}

} // namespace assay::tier
