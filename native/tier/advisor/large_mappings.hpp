#pragma once

#include "tier/advisor/granule_table.hpp"
#include "tier/advisor/maps_reader.hpp"
#include "tier/base/meter.hpp"

#include <cstdint>

namespace assay::tier {

/// Large mapping of this process, with its shared counters.
struct LargeMapping {
    std::uint64_t from = 0, to = 0;
    Meter::Entry* meter_entry = nullptr;

    [[nodiscard]] std::int64_t first() const { return static_cast<std::int64_t>(from / Granule::bytes); }
    [[nodiscard]] std::int64_t last() const { return static_cast<std::int64_t>((to - 1) / Granule::bytes); }
    /// Return its pages within a granule, one bit each.
    [[nodiscard]] std::uint64_t pages_of(std::int64_t granule) const;
};

/// Consecutive granules of one mapping.
struct GranuleRange {
    std::int64_t first = 0, last = -1;

    [[nodiscard]] std::int64_t count() const { return last - first + 1; }
};

/// All large mappings of this process.
class LargeMappings {
  public:
    /// \param min minimum size in bytes. \throws std::bad_alloc; std::system_error without /proc.
    LargeMappings(std::size_t min, std::size_t memory_bytes);

    /// Read the present mappings. \returns true if they have changed.
    bool update();
    /// Return the mappings before the last change.
    [[nodiscard]] const Table<LargeMapping>& previous() const { return previous_; }
    /// Return the mapping that contains a granule; null if there is none.
    [[nodiscard]] LargeMapping* at(std::int64_t granule);

    [[nodiscard]] bool empty() const { return current_.empty(); }
    [[nodiscard]] const LargeMapping* begin() const { return current_.begin(); }
    [[nodiscard]] const LargeMapping* end() const { return current_.end(); }

    /// Return the counters of all mappings, including removed ones.
    [[nodiscard]] Counts counts() const;
    /// Return the counters for a granule, whether its mapping still exists or not.
    [[nodiscard]] Counts& counts_of(std::int64_t granule);

  private:
    [[nodiscard]] bool matches(const Table<AddressRange>& spans) const;

    MapsReader maps_;
    Meter meter_;
    Table<AddressRange> spans_;
    Table<LargeMapping> current_, previous_;
    Counts removed_counts_{}; ///< Sums over the removed mappings.
};

} // namespace assay::tier
