#pragma once

#include "tier/base/pagemap_reader.hpp"

#include <cstddef>

namespace assay::tier {

/// Keeps huge pages intact.
///
/// UFFDIO_MOVE moves a huge page within a microsecond, unless the destination has a page table, even an empty
/// one. Every address that ever had small pages has one. There the kernel splits the huge page (move_pages of
/// mm/userfaultfd.c, Linux 6.8 to 6.18). The small pages move one by one from then on and leave page tables
/// behind. A few chunks fetched in parts would thus split all huge pages over time: a move would take 20
/// times as long, and a transfer twice as long.
class HugePageKeeper {
  public:
    /// Collapse a completely mapped range into huge pages, which also frees its page table.
    ///
    /// A failure (before Linux 6.1, or with fragmented memory) does no harm; further attempts back off.
    void restore(std::byte* at, std::size_t bytes);
    /// Free the page table of an empty range of the pager (Linux 6.14 with CONFIG_PT_RECLAIM, the default).
    static void free_page_table(std::byte* at, std::size_t bytes);

  private:
    PagemapReader pagemap_;
    /// Pages to skip after a failed collapse, and pages still to skip.
    std::size_t backoff_ = 0, skipped_ = 0;
};

} // namespace assay::tier
