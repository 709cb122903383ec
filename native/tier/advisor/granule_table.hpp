#pragma once

#include "tier/base/table.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Group of 64 pages (256 KiB), the unit of scans, with one bit for each page. Its number is its address
/// divided by its size.
struct Granule {
    static constexpr std::size_t pages = 64, bytes = pages * page;

    std::uint64_t present = 0;    ///< Resident at the last scan.
    std::uint64_t ahead = 0;      ///< Prefetched and not yet accessed.
    std::uint64_t unreported = 0; ///< Newly resident and not reported yet.
    std::uint32_t before = 0;     ///< Links in order of arrival; 0: none.
    std::uint32_t after = 0;
    bool listed = false;   ///< Member of that list.
    bool reported = false; ///< Reported as resident, and nothing has left since.
    bool arrived = false;  ///< Resident, and its eviction is undecided.

    [[nodiscard]] bool is_resident() const { return present == ~std::uint64_t{0}; }
};

/// Table of granules over the whole address space, and the order of their arrival in memory.
class GranuleTable {
  public:
    /// User addresses have 48 bits on x86-64 and arm64, unless more are requested.
    static constexpr std::uint64_t end = (std::uint64_t{1} << 48U) / Granule::bytes;

    /// \throws std::bad_alloc.
    GranuleTable() : slabs_(end / slab_granules) { slabs_.fill(end / slab_granules); }
    GranuleTable(const GranuleTable&) = delete;
    GranuleTable& operator=(const GranuleTable&) = delete;
    ~GranuleTable();

    /// Return the entry of a granule; null if its slab does not exist.
    [[nodiscard]] Granule* find(std::int64_t number);
    /// Return the entry of a granule, creating its slab; null without memory.
    [[nodiscard]] Granule* at(std::int64_t number);
    [[nodiscard]] bool is_resident(std::int64_t number) {
        const Granule* const found = find(number);
        return found != nullptr && found->is_resident();
    }

    /// Move a granule to the end of the arrival order.
    void arrived(std::int64_t number);
    /// Remove a granule without resident pages from the arrival order.
    void remove(std::int64_t number);
    /// Return the granule without arrivals for the longest time; 0 if there is none.
    [[nodiscard]] std::int64_t oldest() const { return first_; }
    /// Return the next granule in the arrival order; 0 if there is none.
    [[nodiscard]] std::int64_t after(std::int64_t number) { return number == 0 ? 0 : find(number)->after; }

  private:
    static constexpr std::uint64_t slab_granules = 4096; ///< 1 GiB of addresses.

    void unlink(Granule& granule);

    Table<Granule*> slabs_;
    std::uint32_t first_ = 0, last_ = 0;
};

} // namespace assay::tier
