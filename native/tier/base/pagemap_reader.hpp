#pragma once

#include "common/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::tier {

/// Reader of /proc/self/pagemap. Documentation/admin-guide/mm/pagemap.rst defines its 64-bit entries.
class PagemapReader {
  public:
    PagemapReader();

    /// Read the entries of consecutive pages. \returns 0 or errno.
    [[nodiscard]] int read(const std::byte* from, std::span<std::uint64_t> entries) const;
    /// Return true if a page is in memory or in swap.
    [[nodiscard]] static bool is_populated(std::uint64_t entry) { return entry >> 62U != 0; }
    /// Return true if a page is in memory or in swap; false if the file cannot be read.
    [[nodiscard]] bool is_populated(const std::byte* at) const;
    [[nodiscard]] bool is_empty(const std::byte* at) const;
    /// Return true if a page belongs to a mapped huge page; false before Linux 6.7 (PAGEMAP_SCAN).
    [[nodiscard]] bool is_huge(const std::byte* at) const;

  private:
    Fd file_;
};

} // namespace assay::tier
