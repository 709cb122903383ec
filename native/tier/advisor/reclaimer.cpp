#include "tier/advisor/reclaimer.hpp"

#include "tier/base/messages.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace assay::tier {

namespace {

/// Obstacles to paging out may vanish at any time, so the pause is short. A working set larger than the
/// budget rarely shrinks, and each attempt wears the disk, so the back-off is longer.
constexpr Nanos max_pause = nanos_per_second, min_backoff = 30 * nanos_per_second,
                max_backoff = 1000 * nanos_per_second;
/// Turnovers of the resident set without success after which reclaim backs off. Read-only pages are written
/// once and can then be dropped. Until then they return several times, because they stay in memory during the
/// write.
constexpr std::size_t max_turnovers = 10;

void print_once(bool& printed, std::string_view what) {
    if (!std::exchange(printed, true)) print_message({what});
}

} // namespace

Reclaimer::Reclaimer(std::size_t budget, LargeMappings& mappings, ResidentSet& resident,
                     SweepDetector& sweeps)
    : budget_(budget), distance_(std::clamp(static_cast<std::int64_t>(budget / Granule::pages / 16),
                                            std::int64_t{1}, std::int64_t{8})),
      mappings_(mappings), resident_(resident), sweeps_(sweeps) {}

std::size_t Reclaimer::excess_pages() const {
    const std::size_t held = resident_.pages() + resident_.prefetched_pages();
    return held > budget_ ? held - budget_ : 0;
}

void Reclaimer::step(Nanos now) {
    const std::size_t too_much = excess_pages();
    if (too_much == 0) return keep_behind();
    if (now < due_) return;
    const std::size_t goal = std::min(too_much + budget_ / 64, ResidentSet::max_batch_pages);
    // A sweep returns last to the granules just passed. Long-resident granules may be unused, so some of them
    // are paged out instead of those behind sweeps.
    constexpr std::size_t turns = 8, max_tries = 256;
    std::size_t paged_out = 0;
    for (std::size_t i = 0; i < max_tries && paged_out < goal; ++i) {
        const GranuleRange behind = next_behind_sweep();
        const bool take_behind = behind.count() > 0 && ++turn_ % turns != 0;
        paged_out += page_out(take_behind ? behind : next_oldest());
    }
    paged_out_ = excess_pages() == 0 ? 0 : paged_out_ + paged_out;
    if (paged_out_ > max_turnovers * resident_.pages()) return back_off(now);
    pause_ = paged_out > 0 ? 0 : std::clamp(2 * pause_, 10 * nanos_per_milli, max_pause);
    due_ = now + pause_;
    if (pause_ == max_pause)
        print_once(warned_blocked_,
                   "memory beyond the DRAM budget cannot be paged out: swap is full (/proc/swaps) or "
                   "forbidden (memory.swap.max of a control group), or memory is locked");
}

/// Back off: the program accesses pages again before they have left memory.
void Reclaimer::back_off(Nanos now) {
    paged_out_ = 0;
    backoff_ = std::clamp(2 * backoff_, min_backoff, max_backoff);
    due_ = now + backoff_;
    print_once(warned_reused_, "memory exceeds the DRAM budget: the program accesses pages again before they "
                               "are paged out; to enforce a limit, set memory.max of a control group");
}

/// All memory fits into the budget: granules behind sweeps remain resident for the next sweep.
void Reclaimer::keep_behind() {
    pause_ = 0;
    paged_out_ = 0;
    backoff_ = 0;
    while (next_behind_sweep().count() > 0) {
    }
}

/// Return undecided granules so far behind a sweep that further accesses are unlikely.
GranuleRange Reclaimer::next_behind_sweep() {
    for (Sweep& sweep : sweeps_) {
        GranuleRange range;
        while (sweep.moved_at != 0 && sweep.ahead(sweep.evicted_to + sweep.step) < -distance_ &&
               range.count() < ResidentSet::max_batch_granules) {
            const std::int64_t next = sweep.evicted_to + sweep.step;
            const bool taken = resident_.is_undecided(next);
            if (!taken && range.count() > 0) break;
            sweep.evicted_to = next;
            if (!taken) continue;
            resident_.mark_decided(next);
            range = range.count() == 0
                        ? GranuleRange{next, next}
                        : GranuleRange{std::min(range.first, next), std::max(range.last, next)};
        }
        if (range.count() > 0) return range;
    }
    return {};
}

/// Return consecutive arrivals together, so that they are contiguous in swap.
GranuleRange Reclaimer::next_oldest() {
    const std::int64_t oldest = resident_.oldest();
    if (oldest == 0) return {};
    GranuleRange range{oldest, oldest};
    for (std::int64_t next = resident_.after(oldest);
         next != 0 && range.count() < ResidentSet::max_batch_granules; next = resident_.after(next))
        if (next == range.last + 1)
            range.last = next;
        else if (next == range.first - 1)
            range.first = next;
        else
            break;
    return range;
}

std::size_t Reclaimer::page_out(GranuleRange range) {
    const LargeMapping* const mapping = range.count() > 0 ? mappings_.at(range.first) : nullptr;
    if (mapping == nullptr) return 0;
    range.last = std::min(range.last, mapping->last());
    return resident_.page_out(*mapping, range);
}

} // namespace assay::tier
