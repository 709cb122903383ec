#pragma once

#include "tier/base/pagemap_reader.hpp"

#include <cstddef>

namespace assay::tier {

/// Keeps huge pages huge.
///
/// A huge page moves as one, in a microsecond (UFFDIO_MOVE), but where its new place has a page table, if
/// only an empty one, as every place does where smaller pages ever were: there the kernel splits it
/// (move_pages of mm/userfaultfd.c, Linux 6.8 to 6.18), into pages that move one by one from then on, and
/// leave tables wherever they were. So from a few chunks that were brought in parts, after a while no huge
/// page is left: each move takes 20 times as long, and a transfer twice.
class HugePageKeeper {
  public:
    /// What is mapped at a place has just come there, all of it: where it is not of huge pages, it is made
    /// so, and the place loses its table.
    ///
    /// It is no matter where that cannot be (before Linux 6.1; where memory is in pieces); it is not tried
    /// each time then.
    void restore(std::byte* at, std::size_t bytes);
    /// Nothing is mapped at a place of the pager's own: it loses its table (since Linux 6.14, where the
    /// kernel was built with CONFIG_PT_RECLAIM, as it is by default).
    static void free_page_table(std::byte* at, std::size_t bytes);

  private:
    PagemapReader pagemap_;
    std::size_t backoff_ = 0, skipped_ = 0; ///< Pages that are passed over after one could not be had.
};

} // namespace assay::tier
