#include "tier/advisor/reclaimer.hpp"

#include "tier/base/messages.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace assay::tier {

namespace {

/// What can be paged out may change at any time; whether a program needs all of it at once does not so often,
/// and each time that is tried the disk wears.
constexpr Nanos most_pause = nanos_per_second, least_rest = 30 * nanos_per_second,
                most_rest = 1000 * nanos_per_second;
/// So many times what is in memory is paged out before it counts as in vain. What is only read has to be
/// written once, and then goes at once; until then it comes back several times, for it stays in memory while
/// it is written.
constexpr std::size_t most_times = 10;

void say_once(bool& said, std::string_view what) {
    if (!std::exchange(said, true)) say({what});
}

} // namespace

PageOut::PageOut(std::size_t budget, Areas& areas, ResidentSet& resident, Fronts& fronts)
    : budget_(budget), distance_(std::clamp(static_cast<std::int64_t>(budget / Granule::pages / 16),
                                            std::int64_t{1}, std::int64_t{8})),
      areas_(areas), resident_(resident), fronts_(fronts) {}

std::size_t PageOut::over() const {
    const std::size_t held = resident_.pages() + resident_.ahead_pages();
    return held > budget_ ? held - budget_ : 0;
}

void PageOut::go_on(Nanos now) {
    const std::size_t too_much = over();
    if (too_much == 0) return stay_behind();
    if (now < due_) return;
    const std::size_t goal = std::min(too_much + budget_ / 64, ResidentSet::most_at_a_time);
    // What a front has just passed it comes to last, if it comes again. But what has been there for long may
    // not be needed at all: so that it does not stay for ever, some goes in place of what lies behind fronts.
    constexpr std::size_t turns = 8, most_tries = 256;
    std::size_t gone = 0;
    for (std::size_t i = 0; i < most_tries && gone < goal; ++i) {
        const Piece behind = next_behind();
        const bool passed = behind.count() > 0 && ++turn_ % turns != 0;
        gone += page_out(passed ? behind : next_oldest());
    }
    gone_ = over() == 0 ? 0 : gone_ + gone;
    if (gone_ > most_times * resident_.pages()) return rest(now);
    pause_ = gone > 0 ? 0 : std::clamp(2 * pause_, 10 * nanos_per_milli, most_pause);
    due_ = now + pause_;
    if (pause_ == most_pause)
        say_once(said_stuck_,
                 "what exceeds the DRAM cannot be paged out: swap is full (/proc/swaps), or may not be used "
                 "(memory.swap.max of a control group), or memory is locked");
}

/// The program uses pages again before they have left, so that they are only mapped anew.
void PageOut::rest(Nanos now) {
    gone_ = 0;
    rest_ = std::clamp(2 * rest_, least_rest, most_rest);
    due_ = now + rest_;
    say_once(
        said_used_,
        "more than the DRAM stays in memory: the program uses again what is paged out before it has left; "
        "where the DRAM is to be a limit, set one by a control group (memory.max)");
}

/// All fits: what fronts have passed stays, also when they come again.
void PageOut::stay_behind() {
    pause_ = 0;
    gone_ = 0;
    rest_ = 0;
    while (next_behind().count() > 0) {
    }
}

/// What has come under a front and was not decided on, so far behind it that it is hardly touched again.
Piece PageOut::next_behind() {
    for (Front& front : fronts_) {
        Piece piece;
        while (front.moved != 0 && front.ahead(front.left + front.step) < -distance_ &&
               piece.count() < ResidentSet::at_once) {
            const std::int64_t next = front.left + front.step;
            const bool taken = resident_.is_undecided(next);
            if (!taken && piece.count() > 0) break;
            front.left = next;
            if (!taken) continue;
            resident_.decided(next);
            piece = piece.count() == 0 ? Piece{next, next}
                                       : Piece{std::min(piece.first, next), std::max(piece.last, next)};
        }
        if (piece.count() > 0) return piece;
    }
    return {};
}

/// What came in a row is taken in a row, so that it lies so in swap too.
Piece PageOut::next_oldest() {
    const std::int64_t oldest = resident_.oldest();
    if (oldest == 0) return {};
    Piece piece{oldest, oldest};
    for (std::int64_t next = resident_.after(oldest); next != 0 && piece.count() < ResidentSet::at_once;
         next = resident_.after(next))
        if (next == piece.last + 1)
            piece.last = next;
        else if (next == piece.first - 1)
            piece.first = next;
        else
            break;
    return piece;
}

std::size_t PageOut::page_out(Piece piece) {
    const Area* const area = piece.count() > 0 ? areas_.at(piece.first) : nullptr;
    if (area == nullptr) return 0;
    piece.last = std::min(piece.last, area->last());
    return resident_.page_out(*area, piece);
}

} // namespace assay::tier
