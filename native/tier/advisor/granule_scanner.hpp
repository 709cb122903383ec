#pragma once

#include "tier/advisor/granule_table.hpp"
#include "tier/base/pagemap_reader.hpp"

#include <array>
#include <cstdint>

namespace assay::tier {

/// Where pages of this process are, granule by granule; no content is touched, and no right is needed.
class GranuleScanner {
  public:
    /// Of a granule, a bit of each page.
    struct Residency {
        std::uint64_t present = 0; ///< In memory, and mapped: what swap gave back counts once it is touched.
        std::uint64_t swapped = 0; ///< In swap, or brought from there and not touched yet.
    };

    static constexpr std::int64_t max = 32; ///< Granules that are read at once.

    /// \throws std::system_error where there is no /proc.
    GranuleScanner();

    /// \param count of granules, `most` at most.
    /// \returns as many, until the next call; what cannot be read is nowhere.
    [[nodiscard]] const Residency* read(std::int64_t first, std::int64_t count);

  private:
    PagemapReader pagemap_;
    std::array<std::uint64_t, max * Granule::pages> entries_{};
    std::array<Residency, max> residency_{};
};

} // namespace assay::tier
