#include "tier/policy/eviction_policy.hpp"

#include <algorithm>
#include <utility>

namespace assay::tier {

namespace {

/// Of what memory holds, the part that only passes through, and the part that is kept for a while unmapped.
constexpr std::size_t passing_part = 32, aside_part = 32;
/// More of it passes through where that is touched several times on its way: the tiles of a matrix, and rows
/// of a grid with those beside them.
constexpr std::size_t most_passing_part = 8;
/// Of a sweep, nothing that was unmapped is touched before all else was.
constexpr std::size_t aside_part_of_sweep = 128;

bool is_mapped(const Chunk& chunk) {
    return chunk.place == Chunk::Place::main || chunk.place == Chunk::Place::passing;
}

/// No instruction touches as many chunks at once, and each of them has to be there at the same time.
constexpr std::size_t least = 4;
/// At once: where all are used, one of them goes all the same.
constexpr std::size_t most_passed_over = 64;

} // namespace

void Residence::fit(std::size_t most) {
    most_ = most;
    fit_parts();
}

Queue& Residence::queue(Chunk::Place place) {
    switch (place) {
    case Chunk::Place::main:
        return main_;
    case Chunk::Place::passing:
        return passing_;
    case Chunk::Place::aside:
        return aside_;
    case Chunk::Place::watched:
        return watched_;
    case Chunk::Place::stuck:
        return stuck_;
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
    // So slowly that about one of as many that pass through is unmapped too early.
    constexpr std::size_t leave_for_one = 32;
    if (chunk.place == Chunk::Place::aside)
        more_passing_ -= std::min(more_passing_, chunk.bytes() / leave_for_one);
    take_out(chunk);
    chunk.streak = 0;
    chunk.spared = 0;
    if (future_ != nullptr) future_->left(chunk);
}

void Residence::stick(Chunk& chunk) {
    left(chunk); // Also for those who foresee: it is none of those that can go.
    chunk.place = Chunk::Place::stuck;
    stuck_.add(chunk);
}

void Residence::foresee(Future* future, std::size_t newest) {
    end_watch();
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
    const std::size_t distance = age(chunk);
    came_ += chunk.bytes();
    now(chunk);
    if (future_ != nullptr) return came_foreseen(chunk);
    if (retains_ && again && distance <= few_passing_ + most_more_passing()) pass_more(chunk);
    const bool stays = !retains_ || has_room() || (again && makes_room(distance));
    enter(chunk, stays ? Chunk::Place::main : Chunk::Place::passing);
}

/// Something that is watched and was not used for twice as long gives up its place: what was passed over
/// counts as used when its turn came, which may be half a round before it was.
bool Residence::makes_room(std::size_t distance) {
    const auto is_older = [&](const Chunk* one) { return one != nullptr && age(*one) > 2 * distance; };
    if (Chunk* const oldest = watched_.front(); is_older(oldest)) {
        enter(*oldest, Chunk::Place::aside);
        return true;
    }
    // While nothing is watched: one that is taken for used, and seldom enough.
    Chunk* const oldest = main_.front();
    if (!is_older(oldest)) return false;
    enter(*oldest, Chunk::Place::passing);
    return true;
}

/// An average over about a quarter of what memory holds. Two levels, so that it does not change its mind at
/// each.
void Residence::judge(const Chunk& chunk, bool again) {
    const double weight =
        static_cast<double>(chunk.bytes()) / static_cast<double>(std::max(most_ / 4, least * chunk_));
    again_share_ += weight * ((again ? 1.0 : 0.0) - again_share_);
    if (again) distance_ += weight * (static_cast<double>(age(chunk)) - distance_);
    if (again_share_ > 0.5) retain(true);
    if (again_share_ < 0.25) retain(false);
}

void Residence::retain(bool retains) {
    if (std::exchange(retains_, retains) == retains) return;
    fit_parts();
    if (!retains) end_watch();
}

/// What is watched goes, unless it is touched soon.
void Residence::end_watch() {
    while (!watched_.empty()) enter(*watched_.front(), Chunk::Place::aside);
}

void Residence::fit_parts() {
    few_passing_ = std::max(most_ / passing_part, least * chunk_);
    more_passing_ = std::min(more_passing_, most_more_passing());
    few_aside_ = std::max(most_ / (retains_ ? aside_part_of_sweep : aside_part), chunk_);
    // What is there stays, as at the beginning.
    while (passing_.bytes() > few_passing_) enter(*passing_.front(), Chunk::Place::main);
}

/// It would still be there if more passed through.
void Residence::pass_more(const Chunk& chunk) {
    more_passing_ = std::min(more_passing_ + chunk.bytes(), most_more_passing());
}

std::size_t Residence::most_more_passing() const {
    return most_ / most_passing_part;
}

void Residence::used_again(Chunk& chunk) {
    now(chunk);
    if (future_ != nullptr) return came_foreseen(chunk);
    if (retains_ && chunk.place == Chunk::Place::aside) pass_more(chunk);
    constexpr unsigned longest = 3;
    chunk.streak = std::min(chunk.streak + 1U, longest) & longest;
    chunk.spared = chunk.streak;
    enter(chunk, Chunk::Place::main);
}

void Residence::merged(Chunk& chunk) {
    if (future_ == nullptr) return enter(chunk, retains_ ? Chunk::Place::passing : Chunk::Place::main);
    future_->merged(chunk);
    came_foreseen(chunk);
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

/// It is taken for used, and its turn comes again later.
void Residence::pass_over(Chunk& chunk) {
    --chunk.spared;
    now(chunk);
    main_.remove(chunk);
    main_.add(chunk);
}

/// After half of the time in which what comes comes again; what is passed over, when it may have been used.
Chunk* Residence::next_to_watch() {
    if (!retains_ || future_ != nullptr) return nullptr;
    for (std::size_t i = 0; i < most_passed_over && !main_.empty(); ++i) {
        Chunk& chunk = *main_.front();
        const double due =
            std::max(chunk.spared > 0 ? distance_ : distance_ / 2, static_cast<double>(few_passing_));
        if (static_cast<double>(age(chunk)) < due) return nullptr;
        if (chunk.spared == 0) return &chunk;
        pass_over(chunk);
    }
    return nullptr;
}

Chunk* Residence::last_to_leave() const {
    for (const Queue* const one : {&aside_, &watched_, &ahead_})
        if (!one->empty()) return one->front();
    return nullptr;
}

Chunk* Residence::next_to_unmap() {
    if (Chunk* const last = touched_last(); last != nullptr && is_mapped(*last)) return last;
    // What came last stays: an instruction may need several chunks.
    if (main_.size() + passing_.size() <= least) return nullptr;
    if (passing_.bytes() > passing_bytes()) return passing_.front();
    for (std::size_t i = 0; i < most_passed_over && !main_.empty() && main_.front()->spared > 0; ++i)
        pass_over(*main_.front());
    return main_.empty() ? passing_.front() : main_.front();
}

} // namespace assay::tier
