#pragma once

#include "tier/base/table.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Pages that are looked at together, by a bit of each: 256 KiB. Its number is its address over its size.
struct Granule {
    static constexpr std::size_t pages = 64, bytes = pages * page;

    std::uint64_t present = 0;    ///< In memory, when it was looked at last.
    std::uint64_t ahead = 0;      ///< Asked for, and not touched since.
    std::uint64_t unreported = 0; ///< Touched, and not told of yet.
    std::uint32_t before = 0;     ///< In the order of arrival; 0: none.
    std::uint32_t after = 0;
    bool listed = false;   ///< In that order.
    bool reported = false; ///< That it has come, and nothing of it has gone since.
    bool arrived = false;  ///< It has come, and whether it goes again was not decided.

    [[nodiscard]] bool is_resident() const { return present == ~std::uint64_t{0}; }
};

/// What is known of granules, wherever they are, and the order in which they came into memory.
class GranuleTable {
  public:
    /// Addresses from here on are nobody's: 48 bits, the most of x86-64 and arm64 that is not asked for.
    static constexpr std::uint64_t end = (std::uint64_t{1} << 48U) / Granule::bytes;

    /// \throws std::bad_alloc.
    GranuleTable() : slabs_(end / slab_granules) { slabs_.fill(end / slab_granules); }
    GranuleTable(const GranuleTable&) = delete;
    GranuleTable& operator=(const GranuleTable&) = delete;
    ~GranuleTable();

    /// Null where nothing has been noted near it.
    [[nodiscard]] Granule* find(std::int64_t number);
    /// Null where there is no memory for it.
    [[nodiscard]] Granule* at(std::int64_t number);
    [[nodiscard]] bool is_resident(std::int64_t number) {
        const Granule* const found = find(number);
        return found != nullptr && found->is_resident();
    }

    /// Pages of it came just now.
    void arrived(std::int64_t number);
    /// Nothing of it is in memory any more.
    void remove(std::int64_t number);
    /// The one that nothing has come of for the longest time; 0 where there is none.
    [[nodiscard]] std::int64_t oldest() const { return first_; }
    /// The one that came next; 0 where there is none.
    [[nodiscard]] std::int64_t after(std::int64_t number) { return number == 0 ? 0 : find(number)->after; }

  private:
    static constexpr std::uint64_t slab_granules = 4096; ///< 1 GiB of addresses.

    void unlink(Granule& granule);

    Table<Granule*> slabs_;
    std::uint32_t first_ = 0, last_ = 0;
};

} // namespace assay::tier
