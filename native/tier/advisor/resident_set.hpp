#pragma once

#include "tier/advisor/granule_scanner.hpp"
#include "tier/advisor/granule_table.hpp"
#include "tier/advisor/large_mappings.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace assay::tier {

/// What of areas is in memory, as it was seen last; and the advice that changes it.
class ResidentSet {
  public:
    /// Granules that the kernel is told of at once. It holds the lock of the address space meanwhile, and who
    /// wants to change that (mmap) waits.
    static constexpr std::int64_t max_batch_granules = 4;
    static_assert(max_batch_granules <= GranuleScanner::max);
    /// Pages that are asked for or paged out before the next look.
    static constexpr std::size_t max_batch_pages = (std::size_t{16} << 20U) / page;

    /// \throws std::bad_alloc; std::system_error where there is no /proc.
    ResidentSet() = default;

    /// Pages that are there.
    [[nodiscard]] std::size_t pages() const { return resident_pages_; }
    /// Pages that were asked for, and have not been touched since.
    [[nodiscard]] std::size_t prefetched_pages() const { return prefetched_; }
    [[nodiscard]] std::size_t pages_of(const LargeMapping& mapping);
    /// Pages of a granule that are awaited.
    [[nodiscard]] std::size_t outstanding_pages(std::int64_t number);

    /// Looks at a piece.
    ///
    /// \param came is told of granules that have come since the last look there, a run of them at a time.
    /// \returns how many there were.
    template <class Came>
    std::size_t scan(const LargeMapping& mapping, GranuleRange range, Came arrived) {
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

    /// All of it is there.
    [[nodiscard]] bool is_resident(std::int64_t number) { return granules_.is_resident(number); }
    /// Something is known of it, be it only that it was asked for.
    [[nodiscard]] bool is_known(std::int64_t number) {
        const Granule* const one = granules_.find(number);
        return one != nullptr && (one->present | one->ahead) != 0;
    }
    /// It has come, and whether it goes again was not decided.
    [[nodiscard]] bool is_undecided(std::int64_t number) {
        const Granule* const one = granules_.find(number);
        return one != nullptr && one->arrived && one->present != 0;
    }
    void mark_decided(std::int64_t number) { granules_.find(number)->arrived = false; }
    /// The one that nothing has come of for the longest time, and the one that came next; 0 where there is
    /// none.
    [[nodiscard]] std::int64_t oldest() const { return granules_.oldest(); }
    [[nodiscard]] std::int64_t after(std::int64_t number) { return granules_.after(number); }

    /// What will be used (MADV_WILLNEED), `at_once` granules at most. \returns its pages that were not asked
    /// for before.
    [[nodiscard]] std::size_t prefetch(const LargeMapping& mapping, GranuleRange range);
    /// What was asked for of a granule is not waited for any more. \returns its pages.
    std::size_t abandon(std::int64_t number);
    /// What is to leave (MADV_PAGEOUT), as many at most. \returns pages that have.
    [[nodiscard]] std::size_t page_out(const LargeMapping& mapping, GranuleRange range);
    /// Nothing is known of a granule any more.
    void forget(std::int64_t number);

  private:
    /// What is seen of a granule now. \returns its pages that are in swap, and were not asked for.
    std::uint64_t update_granule(const LargeMapping& mapping, std::int64_t number,
                                 const GranuleScanner::Residency& residency);
    /// As much of it that it counts, which is told once.
    [[nodiscard]] bool has_arrived(std::int64_t number);

    GranuleScanner pagemap_;
    GranuleTable granules_;
    std::size_t resident_pages_ = 0, prefetched_ = 0;
};

} // namespace assay::tier
