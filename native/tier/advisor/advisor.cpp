#include "tier/advisor/advisor.hpp"

#include "tier/advisor/swap_check.hpp"
#include "tier/base/private_descriptors.hpp"
#include "tier/base/scoped_signal_block.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace assay::tier {

namespace {

/// A front that has not moved for so long is not waited for.
constexpr Nanos ms = nanos_per_milli, resting = 2000 * ms;
/// Granules that are looked at in a row: 1 GiB.
constexpr std::int64_t most_looked_at = 4096;

} // namespace

Advisor::Advisor(const Means& means)
    : budget_(means.memory_bytes / page), areas_(means.least_bytes, means.memory_bytes),
      page_out_(budget_, areas_, resident_, fronts_) {
    demand_swap();
    demand_page_out();
}

Advisor& Advisor::start(void* room, const Means& means) {
    Advisor* made = nullptr;
    std::exception_ptr problem;
    std::atomic<int> begun = 0;
    const auto live = [&] {
        ::prctl(PR_SET_NAME, thread_name);
        try {
            own_files();
            made = new (room) Advisor(means);
        } catch (...) {
            problem = std::current_exception();
        }
        Advisor* const advisor = made;
        begun.store(1);
        begun.notify_one(); // From here on nothing of the caller's is there.
        if (advisor != nullptr) advisor->work();
    };
    {
        // Signals are the program's: none is to arrive in a thread that it does not know.
        const Quiet quiet;
        std::thread(live).detach();
        begun.wait(0);
    }
    if (problem) std::rethrow_exception(problem);
    return *made;
}

Counts Advisor::counts() {
    const Quiet quiet;
    const std::lock_guard lock(lock_);
    return areas_.counts();
}

// -- the thread ---------------------------------------------------------------------------------------------

void Advisor::work() {
    for (;;) {
        Nanos due = 0;
        {
            const std::lock_guard lock(lock_);
            due = go_round(now_ns());
        }
        const Nanos now = now_ns();
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::max(due, now + ms / 2) - now));
    }
}

Nanos Advisor::go_round(Nanos now) {
    if (now >= areas_due_) find_areas(now);
    if (areas_.empty()) return areas_due_;
    if (now >= everywhere_due_) look_everywhere(now);
    for (const Front& front : fronts_)
        if (front.moved != 0 && now - front.moved < resting) look_at_front(front, now);
    page_out_.go_on(now);
    ask(now);
    // While a front moves, what it comes to is to be asked for in time.
    const Nanos still = now - moved_;
    const Nanos pause = still < 100 * ms ? ms : still < resting ? 10 * ms : 1000 * ms;
    return std::min({now_ns() + pause, everywhere_due_, areas_due_});
}

// -- looking ------------------------------------------------------------------------------------------------

void Advisor::find_areas(Nanos now) {
    const bool changed = areas_.find();
    areas_due_ = now + std::max(50 * ms, 50 * (now_ns() - now));
    if (!changed) return;
    for (const Area& area : areas_.before()) forget(area);
    everywhere_due_ = now;
}

/// What is in no area any more is not in memory, as far as this goes.
void Advisor::forget(const Area& area) {
    for (std::int64_t number = area.first(); number <= area.last(); ++number)
        if (resident_.knows(number) && areas_.at(number) == nullptr) resident_.forget(number);
}

/// Part after part, so that a front does not wait for it.
void Advisor::look_everywhere(Nanos now) {
    std::int64_t left = most_looked_at;
    for (const Area& area : areas_) {
        if (area.last() < looked_) continue;
        const std::int64_t first = std::max(area.first(), looked_);
        const Piece piece{first, std::min(area.last(), first + left - 1)};
        came_ += look(area, piece, now);
        left -= piece.count();
        looked_ = piece.last + 1;
        if (piece.last == area.last()) area.shown->held_bytes = resident_.pages_of(area) * page;
        if (left == 0) break;
    }
    // A twentieth of the time at most; seldom, where nothing happens.
    const Nanos after = now_ns();
    everywhere_due_ = after + 20 * (after - now);
    if (left == 0) return;
    const Nanos before = std::exchange(came_, 0) > 0 ? 0 : everywhere_pause_;
    everywhere_pause_ = std::clamp(2 * before, 10 * ms, 200 * ms);
    everywhere_due_ = std::max(everywhere_due_, after + everywhere_pause_);
    looked_ = 0;
}

/// It may have passed over what was in memory all the time.
void Advisor::look_at_front(const Front& front, Nanos now) {
    constexpr std::int64_t step = 16, most_steps = 64;
    for (std::int64_t i = 0; i < most_steps; ++i) {
        const Area* const area = areas_.at(front.head);
        if (area == nullptr) return;
        std::int64_t next = front.head + front.step;
        while (resident_.is_whole(next) && front.ahead(next) < Fronts::most_passed_over) next += front.step;
        const std::int64_t end = next + (step - 1) * front.step;
        const Piece piece{std::max(std::min(next, end), area->first()),
                          std::min(std::max(next, end), area->last())};
        if (piece.count() <= 0 || look(*area, piece, now) == 0 || front.ahead(end) > 0) return;
    }
}

std::size_t Advisor::look(const Area& area, Piece piece, Nanos now) {
    return resident_.look(area, piece, [this, now](Piece run) { saw(run, now); });
}

void Advisor::saw(Piece run, Nanos now) {
    Front gone =
        fronts_.saw(run.first, run.last, now, [this](std::int64_t n) { return resident_.is_whole(n); });
    if (gone.moved != 0) give_up(gone);
    moved_ = now;
}

// -- what comes next ----------------------------------------------------------------------------------------

void Advisor::ask(Nanos now) {
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
    if (moving == 0 || resident_.ahead_pages() >= most || page_out_.over() > most) return;
    const std::int64_t window =
        std::max(static_cast<std::int64_t>(most / Granule::pages) / moving, std::int64_t{1});
    std::size_t room = std::min(most - resident_.ahead_pages(), ResidentSet::most_at_a_time);
    for (Front& front : fronts_)
        if (front.moved != 0 && now - front.moved < resting) ask_ahead_of(front, front.window(window), room);
}

void Advisor::ask_ahead_of(Front& front, std::int64_t window, std::size_t& room) {
    if (front.ahead(front.asked) < 0) front.asked = front.head;
    const auto most = static_cast<std::size_t>(window) * Granule::pages;
    std::size_t waiting = 0;
    for (std::int64_t i = 1; i <= front.ahead(front.asked); ++i)
        waiting += resident_.awaited(front.head + i * front.step);
    const Area* const area = areas_.at(front.head);
    while (area != nullptr && waiting < most && room > 0 &&
           front.ahead(front.asked) < Fronts::most_passed_over) {
        const std::int64_t next = front.asked + front.step;
        const std::int64_t end = next + (std::min(ResidentSet::at_once, window) - 1) * front.step;
        const Piece piece{std::max(std::min(next, end), area->first()),
                          std::min(std::max(next, end), area->last())};
        if (piece.count() <= 0) return;
        const std::size_t asked = resident_.ask_for(*area, piece);
        front.asked = front.step > 0 ? piece.last : piece.first;
        waiting += asked;
        room -= std::min(asked, room);
    }
}

void Advisor::give_up(Front& front) {
    for (; front.ahead(front.asked) > 0; front.asked -= front.step)
        areas_.counts_of(front.asked).wasted += resident_.give_up(front.asked);
}

} // namespace assay::tier
