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

constexpr Nanos ms = nanos_per_milli;
/// Time without progress after which a sweep no longer counts as moving.
constexpr Nanos idle_timeout = 2000 * ms;
/// Granules scanned without interruption: 1 GiB.
constexpr std::int64_t max_scan_granules = 4096;

} // namespace

Advisor::Advisor(const Config& config)
    : budget_(config.memory_bytes / page), mappings_(config.min_bytes, config.memory_bytes),
      reclaimer_(budget_, mappings_, resident_, sweeps_) {
    require_swap();
    require_page_out();
}

Advisor& Advisor::start(void* room, const Config& config) {
    Advisor* created = nullptr;
    std::exception_ptr start_error;
    std::atomic<int> started = 0;
    const auto run_thread = [&] {
        ::prctl(PR_SET_NAME, thread_name);
        try {
            unshare_descriptors();
            created = new (room) Advisor(config);
        } catch (...) {
            start_error = std::current_exception();
        }
        Advisor* const advisor = created;
        started.store(1);
        started.notify_one(); // Variables of the caller are invalid from here on.
        if (advisor != nullptr) advisor->work();
    };
    {
        // Signals belong to the program: none may be delivered to a thread unknown to it.
        const ScopedSignalBlock block_signals;
        std::thread(run_thread).detach();
        started.wait(0);
    }
    if (start_error) std::rethrow_exception(start_error);
    return *created;
}

Counts Advisor::counts() {
    const ScopedSignalBlock block_signals;
    const std::lock_guard lock(lock_);
    return mappings_.counts();
}

// -- thread -------------------------------------------------------------------------------------------------

void Advisor::work() {
    for (;;) {
        Nanos due = 0;
        {
            const std::lock_guard lock(lock_);
            due = step(now_ns());
        }
        const Nanos now = now_ns();
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::max(due, now + ms / 2) - now));
    }
}

Nanos Advisor::step(Nanos now) {
    if (now >= mappings_due_) update_mappings(now);
    if (mappings_.empty()) return mappings_due_;
    if (now >= scan_due_) scan_all(now);
    for (const Sweep& sweep : sweeps_)
        if (sweep.moved_at != 0 && now - sweep.moved_at < idle_timeout) scan_ahead_of(sweep, now);
    reclaimer_.step(now);
    prefetch(now);
    // While a sweep moves, its next granules must be prefetched in time.
    const Nanos idle_time = now - last_move_;
    const Nanos pause = idle_time < 100 * ms ? ms : idle_time < idle_timeout ? 10 * ms : 1000 * ms;
    return std::min({now_ns() + pause, scan_due_, mappings_due_});
}

// -- scanning -----------------------------------------------------------------------------------------------

void Advisor::update_mappings(Nanos now) {
    const bool changed = mappings_.update();
    mappings_due_ = now + std::max(50 * ms, 50 * (now_ns() - now));
    if (!changed) return;
    for (const LargeMapping& mapping : mappings_.previous()) forget(mapping);
    scan_due_ = now;
}

/// Forget granules outside of all mappings.
void Advisor::forget(const LargeMapping& mapping) {
    for (std::int64_t number = mapping.first(); number <= mapping.last(); ++number)
        if (resident_.is_known(number) && mappings_.at(number) == nullptr) resident_.forget(number);
}

/// Scan in sections, so that no sweep has to wait.
void Advisor::scan_all(Nanos now) {
    std::int64_t remaining = max_scan_granules;
    for (const LargeMapping& mapping : mappings_) {
        if (mapping.last() < scanned_to_) continue;
        const std::int64_t first = std::max(mapping.first(), scanned_to_);
        const GranuleRange range{first, std::min(mapping.last(), first + remaining - 1)};
        arrived_ += scan(mapping, range, now);
        remaining -= range.count();
        scanned_to_ = range.last + 1;
        if (range.last == mapping.last())
            mapping.meter_entry->held_bytes = resident_.pages_of(mapping) * page;
        if (remaining == 0) break;
    }
    // Scan for at most 1/20 of the time, and rarely if nothing changes.
    const Nanos after = now_ns();
    scan_due_ = after + 20 * (after - now);
    if (remaining == 0) return;
    const Nanos before = std::exchange(arrived_, 0) > 0 ? 0 : scan_pause_;
    scan_pause_ = std::clamp(2 * before, 10 * ms, 200 * ms);
    scan_due_ = std::max(scan_due_, after + scan_pause_);
    scanned_to_ = 0;
}

/// Follow a sweep over granules that were resident all the time.
void Advisor::scan_ahead_of(const Sweep& sweep, Nanos now) {
    constexpr std::int64_t step = 16, max_steps = 64;
    for (std::int64_t i = 0; i < max_steps; ++i) {
        const LargeMapping* const mapping = mappings_.at(sweep.head);
        if (mapping == nullptr) return;
        std::int64_t next = sweep.head + sweep.step;
        while (resident_.is_resident(next) && sweep.ahead(next) < SweepDetector::max_passed_over)
            next += sweep.step;
        const std::int64_t end = next + (step - 1) * sweep.step;
        const GranuleRange range{std::max(std::min(next, end), mapping->first()),
                                 std::min(std::max(next, end), mapping->last())};
        if (range.count() <= 0 || scan(*mapping, range, now) == 0 || sweep.ahead(end) > 0) return;
    }
}

std::size_t Advisor::scan(const LargeMapping& mapping, GranuleRange range, Nanos now) {
    return resident_.scan(mapping, range, [this, now](GranuleRange run) { observe(run, now); });
}

void Advisor::observe(GranuleRange run, Nanos now) {
    Sweep replaced = sweeps_.observe(run.first, run.last, now,
                                     [this](std::int64_t n) { return resident_.is_resident(n); });
    if (replaced.moved_at != 0) abandon(replaced);
    last_move_ = now;
}

// -- prefetch -----------------------------------------------------------------------------------------------

void Advisor::prefetch(Nanos now) {
    const std::size_t max = budget_ / 4;
    std::int64_t moving = 0;
    for (Sweep& sweep : sweeps_) {
        if (sweep.moved_at == 0) continue;
        if (now - sweep.moved_at < idle_timeout)
            ++moving;
        else
            abandon(sweep);
    }
    // Prefetched pages replace other pages. If those cannot be paged out, more prefetches would only wait.
    if (moving == 0 || resident_.prefetched_pages() >= max || reclaimer_.excess_pages() > max) return;
    const std::int64_t window =
        std::max(static_cast<std::int64_t>(max / Granule::pages) / moving, std::int64_t{1});
    std::size_t room = std::min(max - resident_.prefetched_pages(), ResidentSet::max_batch_pages);
    for (Sweep& sweep : sweeps_)
        if (sweep.moved_at != 0 && now - sweep.moved_at < idle_timeout)
            prefetch_ahead_of(sweep, sweep.window(window), room);
}

void Advisor::prefetch_ahead_of(Sweep& sweep, std::int64_t window, std::size_t& room) {
    if (sweep.ahead(sweep.prefetched_to) < 0) sweep.prefetched_to = sweep.head;
    const auto max = static_cast<std::size_t>(window) * Granule::pages;
    std::size_t waiting = 0;
    for (std::int64_t i = 1; i <= sweep.ahead(sweep.prefetched_to); ++i)
        waiting += resident_.outstanding_pages(sweep.head + i * sweep.step);
    const LargeMapping* const mapping = mappings_.at(sweep.head);
    while (mapping != nullptr && waiting < max && room > 0 &&
           sweep.ahead(sweep.prefetched_to) < SweepDetector::max_passed_over) {
        const std::int64_t next = sweep.prefetched_to + sweep.step;
        const std::int64_t end = next + (std::min(ResidentSet::max_batch_granules, window) - 1) * sweep.step;
        const GranuleRange range{std::max(std::min(next, end), mapping->first()),
                                 std::min(std::max(next, end), mapping->last())};
        if (range.count() <= 0) return;
        const std::size_t requested = resident_.prefetch(*mapping, range);
        sweep.prefetched_to = sweep.step > 0 ? range.last : range.first;
        waiting += requested;
        room -= std::min(requested, room);
    }
}

void Advisor::abandon(Sweep& sweep) {
    for (; sweep.ahead(sweep.prefetched_to) > 0; sweep.prefetched_to -= sweep.step)
        mappings_.counts_of(sweep.prefetched_to).unused_prefetches += resident_.abandon(sweep.prefetched_to);
}

} // namespace assay::tier
