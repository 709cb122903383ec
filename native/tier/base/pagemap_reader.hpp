#pragma once

#include "common/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::tier {

/// Which pages of this process there are: /proc/self/pagemap, whose numbers of 64 bits
/// Documentation/admin-guide/mm/pagemap.rst describes.
class PagemapReader {
  public:
    PagemapReader();

    /// What it says of pages from an address on. \returns 0, or errno.
    [[nodiscard]] int read(const std::byte* from, std::span<std::uint64_t> entries) const;
    /// In memory, or in swap.
    [[nodiscard]] static bool is_populated(std::uint64_t entry) { return entry >> 62U != 0; }
    /// Of one page; false where nothing can be read.
    [[nodiscard]] bool is_populated(const std::byte* at) const;
    [[nodiscard]] bool is_empty(const std::byte* at) const;
    /// Whether a page is part of a huge one, mapped as such; false before Linux 6.7, which cannot tell
    /// (PAGEMAP_SCAN).
    [[nodiscard]] bool is_huge(const std::byte* at) const;

  private:
    Fd file_;
};

} // namespace assay::tier
