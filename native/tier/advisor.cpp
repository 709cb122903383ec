#include "tier/advisor.hpp"

#include "tier/quiet.hpp"
#include "tier/say.hpp"
#include "tier/swap.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>
#include <utility>

namespace assay::tier {

namespace {

constexpr std::size_t most_areas = 1024;
constexpr std::uint64_t ms = 1'000'000;
/// A front that has not moved for so long is not waited for.
constexpr std::uint64_t resting = 2000 * ms;
/// What can be paged out may change at any time; whether a program needs all of it at once does not so often,
/// and each time that is tried the disk wears.
constexpr std::uint64_t most_pause = 1000 * ms, least_rest = 30'000 * ms, most_rest = 1'000'000 * ms;
/// Pages of a granule that are touched before it counts: fewer are touched by chance.
constexpr int enough = Granule::pages / 4;
/// Granules that the kernel is told of at once. It holds the lock of the address space meanwhile, and who
/// wants to change that (mmap) waits.
constexpr std::int64_t at_once = 4;
/// Granules that are looked at in a row: 1 GiB.
constexpr std::int64_t most_looked_at = 4096;
/// Pages that are asked for or paged out before the next look.
constexpr std::size_t most_at_a_time = (std::size_t{16} << 20U) / page;
/// So many times what is in memory is paged out before it counts as in vain. What is only read has to be
/// written once, and then goes at once; until then it comes back several times, for it stays in memory while
/// it is written.
constexpr std::size_t most_times = 10;

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

std::size_t count_of(std::uint64_t pages) {
    return static_cast<std::size_t>(std::popcount(pages));
}

std::byte* address(std::uint64_t at) {
    return reinterpret_cast<std::byte*>(at); // NOLINT: the kernel gives a number
}

} // namespace

Advisor::Advisor(const Means& means)
    : budget_(means.memory_bytes / page),
      distance_(std::clamp(static_cast<std::int64_t>(budget_ / Granule::pages / 16), std::int64_t{1},
                           std::int64_t{8})),
      maps_(means.least_bytes), meter_(2 * most_areas, means.memory_bytes, page, Meter::How::advisor),
      spans_(most_areas), areas_(most_areas), areas_before_(most_areas) {
    demand_swap();
    demand_page_out();
    // Signals are the program's: none is to arrive in a thread that it does not know.
    const Quiet quiet;
    std::thread([this] { work(); }).detach();
}

Counts Advisor::counts() {
    const Quiet quiet;
    const std::lock_guard lock(lock_);
    Counts all = past_;
    for (const Area& area : areas_) all += area.shown->counts;
    return all;
}

std::uint64_t Advisor::Area::pages_of(std::int64_t granule) const {
    const auto begin = static_cast<std::uint64_t>(granule) * Granule::bytes;
    std::uint64_t pages = ~std::uint64_t{0};
    if (from > begin) pages &= ~std::uint64_t{0} << (from - begin) / page;
    if (to < begin + Granule::bytes) pages &= ~(~std::uint64_t{0} << (to - begin) / page);
    return pages;
}

// -- the thread ---------------------------------------------------------------------------------------------

void Advisor::work() {
    ::prctl(PR_SET_NAME, thread_name);
    for (;;) {
        Time due = 0;
        {
            const std::lock_guard lock(lock_);
            due = go_round(now_ns());
        }
        const Time now = now_ns();
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::max(due, now + ms / 2) - now));
    }
}

Advisor::Time Advisor::go_round(Time now) {
    if (now >= areas_due_) find_areas(now);
    if (areas_.empty()) return areas_due_;
    if (now >= everywhere_due_) look_everywhere(now);
    for (const Front& front : fronts_)
        if (front.moved != 0 && now - front.moved < resting) look_at_front(front, now);
    page_out(now);
    ask(now);
    // While a front moves, what it comes to is to be asked for in time.
    const Time still = now - moved_;
    const Time pause = still < 100 * ms ? ms : still < resting ? 10 * ms : 1000 * ms;
    return std::min({now_ns() + pause, everywhere_due_, areas_due_});
}

// -- memory -------------------------------------------------------------------------------------------------

void Advisor::find_areas(Time now) {
    maps_.read(spans_);
    areas_due_ = now + std::max(50 * ms, 50 * (now_ns() - now));
    if (areas_are(spans_)) return;
    std::swap(areas_, areas_before_);
    areas_.fill(0);
    for (const Span& span : spans_) {
        Area& area = areas_.add(span.from, span.to, nullptr);
        Area* const before = std::ranges::find_if(areas_before_, [&area](const Area& one) {
            return one.shown != nullptr && one.from < area.to && area.from < one.to;
        });
        area.shown = before != areas_before_.end() ? std::exchange(before->shown, nullptr)
                                                   : &meter_.begin(address(span.from), 0);
        area.shown->base = span.from;
        area.shown->bytes = span.to - span.from;
    }
    for (const Area& area : areas_before_) forget(area);
    for (const Area& area : areas_before_) {
        if (area.shown == nullptr) continue;
        past_ += area.shown->counts;
        meter_.end(*area.shown);
    }
    everywhere_due_ = now;
}

bool Advisor::areas_are(const Table<Span>& spans) const {
    return std::ranges::equal(areas_, spans,
                              [](const Area& a, const Span& b) { return a.from == b.from && a.to == b.to; });
}

/// What is in no area any more is not in memory, as far as this goes.
void Advisor::forget(const Area& area) {
    for (std::int64_t number = area.first(); number <= area.last(); ++number) {
        const Granule* const one = granules_.find(number);
        if (one != nullptr && (one->present | one->ahead) != 0 && area_of(number) == nullptr) drop(number);
    }
}

Advisor::Area* Advisor::area_of(std::int64_t granule) {
    Area* const after = std::ranges::upper_bound(areas_, granule, {}, &Area::first);
    return after == areas_.begin() || (after - 1)->last() < granule ? nullptr : after - 1;
}

// -- looking ------------------------------------------------------------------------------------------------

/// Part after part, so that a front does not wait for it.
void Advisor::look_everywhere(Time now) {
    std::int64_t left = most_looked_at;
    for (const Area& area : areas_) {
        if (area.last() < looked_) continue;
        const std::int64_t first = std::max(area.first(), looked_);
        const Piece piece{first, std::min(area.last(), first + left - 1)};
        came_ += look(area, piece, now);
        left -= piece.count();
        looked_ = piece.last + 1;
        if (piece.last == area.last()) show(area);
        if (left == 0) break;
    }
    // A twentieth of the time at most; seldom, where nothing happens.
    const Time after = now_ns();
    everywhere_due_ = after + 20 * (after - now);
    if (left == 0) return;
    const Time before = std::exchange(came_, 0) > 0 ? 0 : everywhere_pause_;
    everywhere_pause_ = std::clamp(2 * before, 10 * ms, 200 * ms);
    everywhere_due_ = std::max(everywhere_due_, after + everywhere_pause_);
    looked_ = 0;
}

void Advisor::show(const Area& area) {
    std::size_t held = 0;
    for (std::int64_t number = area.first(); number <= area.last(); ++number)
        if (const Granule* const one = granules_.find(number); one != nullptr)
            held += count_of(one->present & area.pages_of(number));
    area.shown->held_bytes = held * page;
}

/// It may have passed over what was in memory all the time.
void Advisor::look_at_front(const Front& front, Time now) {
    constexpr std::int64_t step = 16, most_steps = 64;
    for (std::int64_t i = 0; i < most_steps; ++i) {
        const Area* const area = area_of(front.head);
        if (area == nullptr) return;
        std::int64_t next = front.head + front.step;
        while (granules_.whole(next) && front.ahead(next) < Fronts::most_passed_over) next += front.step;
        const std::int64_t end = next + (step - 1) * front.step;
        const Piece piece{std::max(std::min(next, end), area->first()),
                          std::min(std::max(next, end), area->last())};
        if (piece.count() <= 0 || look(*area, piece, now) == 0 || front.ahead(end) > 0) return;
    }
}

std::size_t Advisor::look(const Area& area, Piece piece, Time now) {
    std::size_t came = 0;
    Piece run;
    for (std::int64_t at = piece.first; at <= piece.last; at += Pagemap::most) {
        const std::int64_t count = std::min(Pagemap::most, piece.last + 1 - at);
        const Pagemap::Seen* const seen = pagemap_.read(at, count);
        for (std::int64_t i = 0; i < count; ++i) {
            note(area, at + i, seen[i]);
            Granule* const one = granules_.find(at + i);
            if (one == nullptr || one->told || std::popcount(one->fresh) < enough) continue;
            one->told = one->came = true;
            one->fresh = 0;
            ++came;
            if (run.count() > 0 && run.last != at + i - 1) saw(std::exchange(run, {}), now);
            run = run.count() == 0 ? Piece{at + i, at + i} : Piece{run.first, at + i};
        }
    }
    if (run.count() > 0) saw(run, now);
    return came;
}

void Advisor::look_again(const Area& area, Piece piece) {
    const Pagemap::Seen* const seen = pagemap_.read(piece.first, piece.count());
    for (std::int64_t i = 0; i < piece.count(); ++i) note(area, piece.first + i, seen[i]);
}

void Advisor::saw(Piece run, Time now) {
    Front gone = fronts_.saw(run.first, run.last, now, [this](std::int64_t n) { return granules_.whole(n); });
    if (gone.moved != 0) give_up(gone);
    moved_ = now;
}

std::uint64_t Advisor::note(const Area& area, std::int64_t number, const Pagemap::Seen& seen) {
    const std::uint64_t own = area.pages_of(number);
    const std::uint64_t swapped = seen.swapped & ~seen.present & own;
    const bool any = (seen.present & own) != 0 || swapped != 0;
    Granule* const one = any ? granules_.at(number) : granules_.find(number);
    if (one == nullptr) return 0;
    const std::uint64_t present = (seen.present & own) | (one->present & ~own);
    const std::uint64_t came = present & ~one->present, gone = one->present & ~present;
    const std::uint64_t used = one->ahead & present, dropped = one->ahead & own & ~present & ~swapped;
    area.shown->counts.staged += count_of(used);
    one->ahead &= ~(used | dropped);
    ahead_ -= count_of(used | dropped);
    resident_ += count_of(came);
    resident_ -= count_of(gone);
    one->present = present;
    if (gone != 0) one->told = false;
    one->fresh = one->told ? 0 : (one->fresh | came) & present;
    if (present == 0) {
        one->came = false;
        granules_.left(number);
    } else if (came != 0) {
        granules_.arrived(number);
    }
    return swapped & ~one->ahead;
}

void Advisor::drop(std::int64_t number) {
    Granule& one = *granules_.find(number);
    ahead_ -= count_of(one.ahead);
    resident_ -= count_of(one.present);
    granules_.left(number);
    one = {};
}

// -- what comes next ----------------------------------------------------------------------------------------

void Advisor::ask(Time now) {
    const std::size_t most = budget_ / 4;
    std::int64_t moving = 0;
    for (Front& front : fronts_) {
        if (front.moved == 0) continue;
        if (now - front.moved < resting)
            ++moving;
        else
            give_up(front);
    }
    // What is asked for takes the place of what is there; where that does not go, more would only wait for
    // it.
    if (moving == 0 || ahead_ >= most || over() > most) return;
    const std::int64_t window =
        std::max(static_cast<std::int64_t>(most / Granule::pages) / moving, std::int64_t{1});
    std::size_t room = std::min(most - ahead_, most_at_a_time);
    for (Front& front : fronts_)
        if (front.moved != 0 && now - front.moved < resting) ask_ahead_of(front, front.window(window), room);
}

void Advisor::ask_ahead_of(Front& front, std::int64_t window, std::size_t& room) {
    if (front.ahead(front.asked) < 0) front.asked = front.head;
    const auto most = static_cast<std::size_t>(window) * Granule::pages;
    std::size_t waiting = 0;
    for (std::int64_t i = 1; i <= front.ahead(front.asked); ++i)
        if (const Granule* const one = granules_.find(front.head + i * front.step); one != nullptr)
            waiting += count_of(one->ahead);
    const Area* const area = area_of(front.head);
    while (area != nullptr && waiting < most && room > 0 &&
           front.ahead(front.asked) < Fronts::most_passed_over) {
        const std::int64_t next = front.asked + front.step;
        const std::int64_t end = next + (std::min(at_once, window) - 1) * front.step;
        const Piece piece{std::max(std::min(next, end), area->first()),
                          std::min(std::max(next, end), area->last())};
        if (piece.count() <= 0) return;
        const std::size_t asked = ask_for(*area, piece);
        front.asked = front.step > 0 ? piece.last : piece.first;
        waiting += asked;
        room -= std::min(asked, room);
    }
}

std::size_t Advisor::ask_for(const Area& area, Piece piece) {
    std::size_t asked = 0;
    const Pagemap::Seen* const seen = pagemap_.read(piece.first, piece.count());
    for (std::int64_t number = piece.first; number <= piece.last; ++number) {
        const std::uint64_t pages = note(area, number, seen[number - piece.first]);
        if (pages == 0) continue;
        granules_.find(number)->ahead |= pages;
        asked += count_of(pages);
    }
    if (asked == 0) return 0;
    advise(area, piece, MADV_WILLNEED);
    area.shown->counts.read_bytes += asked * page;
    ahead_ += asked;
    return asked;
}

void Advisor::give_up(Front& front) {
    for (; front.ahead(front.asked) > 0; front.asked -= front.step) {
        Granule* const one = granules_.find(front.asked);
        if (one == nullptr) continue;
        const Area* const area = area_of(front.asked);
        const std::size_t pages = count_of(std::exchange(one->ahead, 0));
        ahead_ -= pages;
        (area == nullptr ? past_ : area->shown->counts).wasted += pages;
    }
}

void Advisor::advise(const Area& area, Piece piece, int advice) {
    const std::uint64_t from = std::max(area.from, static_cast<std::uint64_t>(piece.first) * Granule::bytes);
    const std::uint64_t to = std::min(area.to, static_cast<std::uint64_t>(piece.last + 1) * Granule::bytes);
    // What is not taken, for it is locked or has been unmapped since, shows at the next look.
    static_cast<void>(sys::advise(address(from), to - from, advice));
}

// -- what is over the budget --------------------------------------------------------------------------------

std::size_t Advisor::over() const {
    return resident_ + ahead_ > budget_ ? resident_ + ahead_ - budget_ : 0;
}

void Advisor::page_out(Time now) {
    const std::size_t too_much = over();
    if (too_much == 0) return stay_behind();
    if (now < page_out_due_) return;
    const std::size_t goal = std::min(too_much + budget_ / 64, most_at_a_time);
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
    if (gone_ > most_times * resident_) return rest(now);
    page_out_pause_ = gone > 0 ? 0 : std::clamp(2 * page_out_pause_, 10 * ms, most_pause);
    page_out_due_ = now + page_out_pause_;
    if (page_out_pause_ == most_pause)
        tell("what exceeds the DRAM cannot be paged out: swap is full (/proc/swaps), or may not be used "
             "(memory.swap.max of a control group), or memory is locked");
}

/// The program uses pages again before they have left, so that they are only mapped anew.
void Advisor::rest(Time now) {
    gone_ = 0;
    rest_ = std::clamp(2 * rest_, least_rest, most_rest);
    page_out_due_ = now + rest_;
    tell("more than the DRAM stays in memory: the program uses again what is paged out before it has left; "
         "where the DRAM is to be a limit, set one by a control group (memory.max)");
}

void Advisor::tell(std::string_view why) {
    if (!std::exchange(said_, true)) say({why});
}

/// All fits: what fronts have passed stays, also when they come again.
void Advisor::stay_behind() {
    page_out_pause_ = 0;
    gone_ = 0;
    rest_ = 0;
    while (next_behind().count() > 0) {
    }
}

/// What has come under a front and was not decided on, so far behind it that it is hardly touched again.
Advisor::Piece Advisor::next_behind() {
    for (Front& front : fronts_) {
        Piece piece;
        while (front.moved != 0 && front.ahead(front.left + front.step) < -distance_ &&
               piece.count() < at_once) {
            const std::int64_t next = front.left + front.step;
            Granule* const one = granules_.find(next);
            const bool taken = one != nullptr && one->came && one->present != 0;
            if (!taken && piece.count() > 0) break;
            front.left = next;
            if (!taken) continue;
            one->came = false;
            piece = piece.count() == 0 ? Piece{next, next}
                                       : Piece{std::min(piece.first, next), std::max(piece.last, next)};
        }
        if (piece.count() > 0) return piece;
    }
    return {};
}

/// What came in a row is taken in a row, so that it lies so in swap too.
Advisor::Piece Advisor::next_oldest() {
    const std::int64_t oldest = granules_.oldest();
    if (oldest == 0) return {};
    Piece piece{oldest, oldest};
    for (std::int64_t next = granules_.after(oldest); next != 0 && piece.count() < at_once;
         next = granules_.after(next))
        if (next == piece.last + 1)
            piece.last = next;
        else if (next == piece.first - 1)
            piece.first = next;
        else
            break;
    return piece;
}

std::size_t Advisor::page_out(Piece piece) {
    const Area* const area = piece.count() > 0 ? area_of(piece.first) : nullptr;
    if (area == nullptr) return 0;
    piece.last = std::min(piece.last, area->last());
    const std::size_t before = resident_;
    advise(*area, piece, MADV_PAGEOUT);
    look_again(*area, piece);
    // What has stayed (it is locked, or shared with a child) is not tried again at once.
    for (std::int64_t number = piece.first; number <= piece.last; ++number)
        if (const Granule* const one = granules_.find(number); one != nullptr && one->present != 0)
            granules_.arrived(number);
    const std::size_t gone = before - std::min(before, resident_);
    area->shown->counts.written_bytes += gone * page;
    return gone;
}

} // namespace assay::tier
