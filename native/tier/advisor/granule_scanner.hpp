#pragma once

#include "tier/advisor/granule_table.hpp"
#include "tier/base/pagemap_reader.hpp"

#include <array>
#include <cstdint>

namespace assay::tier {

/// Reads the residency of granules of this process, without accessing their content and without privileges.
class GranuleScanner {
  public:
    /// One bit for each page of a granule.
    struct Residency {
        std::uint64_t present = 0; ///< Mapped. Pages from swap count after their first access.
        std::uint64_t swapped = 0; ///< In swap, or fetched from it and not accessed yet.
    };

    static constexpr std::int64_t max = 32; ///< Granules per read.

    /// \throws std::system_error without /proc.
    GranuleScanner();

    /// Read the residency of consecutive granules.
    ///
    /// \param count at most `max`.
    /// \returns an array valid until the next call; unreadable pages are neither present nor swapped.
    [[nodiscard]] const Residency* read(std::int64_t first, std::int64_t count);

  private:
    PagemapReader pagemap_;
    std::array<std::uint64_t, max * Granule::pages> entries_{};
    std::array<Residency, max> residency_{};
};

} // namespace assay::tier
