#pragma once

#include "tier/advisor/granule_table.hpp"
#include "tier/advisor/maps_reader.hpp"
#include "tier/base/meter.hpp"

#include <cstdint>

namespace assay::tier {

/// Large memory of this process, and what others see of it.
struct LargeMapping {
    std::uint64_t from = 0, to = 0;
    Meter::Entry* meter_entry = nullptr;

    [[nodiscard]] std::int64_t first() const { return static_cast<std::int64_t>(from / Granule::bytes); }
    [[nodiscard]] std::int64_t last() const { return static_cast<std::int64_t>((to - 1) / Granule::bytes); }
    /// Its pages of a granule, by a bit of each.
    [[nodiscard]] std::uint64_t pages_of(std::int64_t granule) const;
};

/// Granules of one area, from one to another.
struct GranuleRange {
    std::int64_t first = 0, last = -1;

    [[nodiscard]] std::int64_t count() const { return last - first + 1; }
};

/// All of them, as the kernel lists them.
class LargeMappings {
  public:
    /// \param least bytes of what is large.
    /// \throws std::bad_alloc; std::system_error where there is no /proc.
    LargeMappings(std::size_t min, std::size_t memory_bytes);

    /// Looks what there is now. \returns whether that has changed.
    bool update();
    /// Those that there were before that changed.
    [[nodiscard]] const Table<LargeMapping>& before() const { return previous_; }
    /// The one that has a granule, or null.
    [[nodiscard]] LargeMapping* at(std::int64_t granule);

    [[nodiscard]] bool empty() const { return current_.empty(); }
    [[nodiscard]] const LargeMapping* begin() const { return current_.begin(); }
    [[nodiscard]] const LargeMapping* end() const { return current_.end(); }

    /// Of all there are and were.
    [[nodiscard]] Counts counts() const;
    /// What is counted of a granule, whether its area is still there or not.
    [[nodiscard]] Counts& counts_of(std::int64_t granule);

  private:
    [[nodiscard]] bool matches(const Table<AddressRange>& spans) const;

    MapsReader maps_;
    Meter meter_;
    Table<AddressRange> spans_;
    Table<LargeMapping> current_, previous_;
    Counts removed_counts_{}; ///< Of areas that are gone.
};

} // namespace assay::tier
