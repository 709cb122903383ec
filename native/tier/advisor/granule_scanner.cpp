#include "tier/advisor/granule_scanner.hpp"

#include <algorithm>
#include <cstddef>
#include <system_error>

namespace assay::tier {

GranuleScanner::GranuleScanner() {
    const int error = pagemap_.read(reinterpret_cast<const std::byte*>(this), {entries_.data(), 1});
    if (error != 0) throw std::system_error(error, std::generic_category(), "/proc/self/pagemap");
}

const GranuleScanner::Residency* GranuleScanner::read(std::int64_t first, std::int64_t count) {
    const std::span wanted(entries_.data(), static_cast<std::size_t>(count) * Granule::pages);
    const auto at = static_cast<std::uint64_t>(first) * Granule::bytes;
    // NOLINTNEXTLINE: granules are identified by numbers
    if (pagemap_.read(reinterpret_cast<const std::byte*>(at), wanted) != 0) std::ranges::fill(wanted, 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        Residency residency;
        for (std::size_t bit = 0; bit < Granule::pages; ++bit) {
            const std::uint64_t one = wanted[i * Granule::pages + bit];
            residency.present |= (one >> 63U) << bit;
            residency.swapped |= (one >> 62U & 1U) << bit;
        }
        residency_[i] = residency;
    }
    return residency_.data();
}

} // namespace assay::tier
