#include "tier/advisor/resident_set.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace assay::tier {

namespace {

/// Minimum number of pages that must arrive before a granule counts: fewer may be accessed by chance.
constexpr int min_pages = Granule::pages / 4;

std::size_t page_count(std::uint64_t pages) {
    return static_cast<std::size_t>(std::popcount(pages));
}

void advise(const LargeMapping& mapping, GranuleRange range, int advice) {
    const std::uint64_t from =
        std::max(mapping.from, static_cast<std::uint64_t>(range.first) * Granule::bytes);
    const std::uint64_t to =
        std::min(mapping.to, static_cast<std::uint64_t>(range.last + 1) * Granule::bytes);
    // A failure (locked or unmapped memory) shows at the next scan.
    static_cast<void>(sys::advise(address(from), to - from, advice));
}

} // namespace

std::size_t ResidentSet::pages_of(const LargeMapping& mapping) {
    std::size_t held = 0;
    for (std::int64_t number = mapping.first(); number <= mapping.last(); ++number)
        if (const Granule* const one = granules_.find(number); one != nullptr)
            held += page_count(one->present & mapping.pages_of(number));
    return held;
}

std::size_t ResidentSet::outstanding_pages(std::int64_t number) {
    const Granule* const one = granules_.find(number);
    return one == nullptr ? 0 : page_count(one->ahead);
}

std::uint64_t ResidentSet::update_granule(const LargeMapping& mapping, std::int64_t number,
                                          const GranuleScanner::Residency& residency) {
    const std::uint64_t mapped = mapping.pages_of(number);
    const std::uint64_t swapped = residency.swapped & ~residency.present & mapped;
    const bool any = (residency.present & mapped) != 0 || swapped != 0;
    Granule* const one = any ? granules_.at(number) : granules_.find(number);
    if (one == nullptr) return 0;
    const std::uint64_t present = (residency.present & mapped) | (one->present & ~mapped);
    const std::uint64_t arrived = present & ~one->present, evicted = one->present & ~present;
    const std::uint64_t used = one->ahead & present, dropped = one->ahead & mapped & ~present & ~swapped;
    mapping.meter_entry->counts.prefetch_hits += page_count(used);
    one->ahead &= ~(used | dropped);
    prefetched_ -= page_count(used | dropped);
    resident_pages_ += page_count(arrived);
    resident_pages_ -= page_count(evicted);
    one->present = present;
    if (evicted != 0) one->reported = false;
    one->unreported = one->reported ? 0 : (one->unreported | arrived) & present;
    if (present == 0) {
        one->arrived = false;
        granules_.remove(number);
    } else if (arrived != 0) {
        granules_.arrived(number);
    }
    return swapped & ~one->ahead;
}

bool ResidentSet::has_arrived(std::int64_t number) {
    Granule* const one = granules_.find(number);
    if (one == nullptr || one->reported || std::popcount(one->unreported) < min_pages) return false;
    one->reported = one->arrived = true;
    one->unreported = 0;
    return true;
}

std::size_t ResidentSet::prefetch(const LargeMapping& mapping, GranuleRange range) {
    std::size_t requested = 0;
    const GranuleScanner::Residency* const residency = pagemap_.read(range.first, range.count());
    for (std::int64_t number = range.first; number <= range.last; ++number) {
        const std::uint64_t pages = update_granule(mapping, number, residency[number - range.first]);
        if (pages == 0) continue;
        granules_.find(number)->ahead |= pages;
        requested += page_count(pages);
    }
    if (requested == 0) return 0;
    advise(mapping, range, MADV_WILLNEED);
    mapping.meter_entry->counts.read_bytes += requested * page;
    prefetched_ += requested;
    return requested;
}

std::size_t ResidentSet::abandon(std::int64_t number) {
    Granule* const one = granules_.find(number);
    if (one == nullptr) return 0;
    const std::size_t pages = page_count(std::exchange(one->ahead, 0));
    prefetched_ -= pages;
    return pages;
}

std::size_t ResidentSet::page_out(const LargeMapping& mapping, GranuleRange range) {
    const std::size_t before = resident_pages_;
    advise(mapping, range, MADV_PAGEOUT);
    const GranuleScanner::Residency* const residency = pagemap_.read(range.first, range.count());
    for (std::int64_t number = range.first; number <= range.last; ++number) {
        update_granule(mapping, number, residency[number - range.first]);
        // Granules that stayed (locked, or shared with a child process) are not tried again at once.
        if (const Granule* const one = granules_.find(number); one != nullptr && one->present != 0)
            granules_.arrived(number);
    }
    const std::size_t paged_out = before - std::min(before, resident_pages_);
    mapping.meter_entry->counts.written_bytes += paged_out * page;
    return paged_out;
}

void ResidentSet::forget(std::int64_t number) {
    Granule& one = *granules_.find(number);
    prefetched_ -= page_count(one.ahead);
    resident_pages_ -= page_count(one.present);
    granules_.remove(number);
    one = {};
}

} // namespace assay::tier
