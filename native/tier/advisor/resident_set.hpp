#pragma once

#include "tier/advisor/granule_scanner.hpp"
#include "tier/advisor/granule_table.hpp"
#include "tier/advisor/large_mappings.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace assay::tier {

/// Residency of large mappings at the last scan, and the advice that changes it.
class ResidentSet {
  public:
    /// Maximum number of granules per madvise(2), which holds the lock of the address space and thus delays
    /// mmap(2).
    static constexpr std::int64_t max_batch_granules = 4;
    static_assert(max_batch_granules <= GranuleScanner::max);
    /// Maximum number of pages prefetched or paged out between two scans.
    static constexpr std::size_t max_batch_pages = (std::size_t{16} << 20U) / page;

    /// \throws std::bad_alloc; std::system_error without /proc.
    ResidentSet() = default;

    /// Return the number of resident pages.
    [[nodiscard]] std::size_t pages() const { return resident_pages_; }
    /// Return the number of prefetched and unused pages.
    [[nodiscard]] std::size_t prefetched_pages() const { return prefetched_; }
    [[nodiscard]] std::size_t pages_of(const LargeMapping& mapping);
    /// Return the prefetched and unused pages of a granule.
    [[nodiscard]] std::size_t outstanding_pages(std::int64_t number);

    /// Scan a range.
    ///
    /// \param arrived receives each run of newly resident granules.
    /// \returns the number of these granules.
    template <class Arrived>
    std::size_t scan(const LargeMapping& mapping, GranuleRange range, Arrived arrived) {
        std::size_t count = 0;
        GranuleRange run;
        for (std::int64_t at = range.first; at <= range.last; at += GranuleScanner::max) {
            const std::int64_t last = std::min(at + GranuleScanner::max - 1, range.last);
            const GranuleScanner::Residency* const residency = pagemap_.read(at, last + 1 - at);
            for (std::int64_t number = at; number <= last; ++number) {
                update_granule(mapping, number, residency[number - at]);
                if (!has_arrived(number)) continue;
                ++count;
                if (run.count() > 0 && run.last != number - 1) arrived(std::exchange(run, {}));
                run = {run.count() > 0 ? run.first : number, number};
            }
        }
        if (run.count() > 0) arrived(run);
        return count;
    }

    /// Return true if all pages of a granule are resident.
    [[nodiscard]] bool is_resident(std::int64_t number) { return granules_.is_resident(number); }
    /// Return true if any page of a granule is resident or prefetched.
    [[nodiscard]] bool is_known(std::int64_t number) {
        const Granule* const one = granules_.find(number);
        return one != nullptr && (one->present | one->ahead) != 0;
    }
    /// Return true if a granule is resident and its eviction undecided.
    [[nodiscard]] bool is_undecided(std::int64_t number) {
        const Granule* const one = granules_.find(number);
        return one != nullptr && one->arrived && one->present != 0;
    }
    void mark_decided(std::int64_t number) { granules_.find(number)->arrived = false; }
    /// Return the oldest granule, and the next one in order of arrival; 0 if there is none.
    [[nodiscard]] std::int64_t oldest() const { return granules_.oldest(); }
    [[nodiscard]] std::int64_t after(std::int64_t number) { return granules_.after(number); }

    /// Prefetch at most `max_batch_granules` granules (MADV_WILLNEED). \returns the number of newly requested
    /// pages.
    [[nodiscard]] std::size_t prefetch(const LargeMapping& mapping, GranuleRange range);
    /// Stop waiting for the prefetched pages of a granule. \returns their number.
    std::size_t abandon(std::int64_t number);
    /// Page out at most `max_batch_granules` granules (MADV_PAGEOUT). \returns the number of pages that left
    /// memory.
    [[nodiscard]] std::size_t page_out(const LargeMapping& mapping, GranuleRange range);
    /// Forget a granule.
    void forget(std::int64_t number);

  private:
    /// Update a granule from a scan. \returns its pages in swap that were not requested.
    std::uint64_t update_granule(const LargeMapping& mapping, std::int64_t number,
                                 const GranuleScanner::Residency& residency);
    /// Return true once after enough pages of a granule have arrived.
    [[nodiscard]] bool has_arrived(std::int64_t number);

    GranuleScanner pagemap_;
    GranuleTable granules_;
    std::size_t resident_pages_ = 0, prefetched_ = 0;
};

} // namespace assay::tier
