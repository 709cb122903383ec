#pragma once

#include "tier/base/table.hpp"
#include "tier/memory/region.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace assay::tier {

/// Index of all regions by address. It does not own them.
class RegionIndex {
  public:
    /// \throws std::bad_alloc.
    explicit RegionIndex(std::size_t max) : regions_(max) {}

    [[nodiscard]] bool full() const { return regions_.full(); }
    [[nodiscard]] bool empty() const { return regions_.empty(); }
    [[nodiscard]] Region* const* begin() const { return regions_.begin(); }
    [[nodiscard]] Region* const* end() const { return regions_.end(); }

    void add(Region& region) { regions_.insert(after(region.base), &region); }
    void remove(const Region& region) { regions_.remove(after(region.base) - 1); }

    /// Return the region that contains an address; null if there is none.
    [[nodiscard]] Region* at(const std::byte* address) const {
        const std::size_t next = after(address);
        if (next == 0) return nullptr;
        Region* const region = regions_[next - 1];
        return region->holds(address) ? region : nullptr;
    }

  private:
    /// Return the number of regions that begin at or below an address.
    [[nodiscard]] std::size_t after(const std::byte* address) const {
        const auto* const next = std::ranges::upper_bound(regions_, address, std::less<>(),
                                                          [](const Region* r) { return r->base; });
        return static_cast<std::size_t>(next - regions_.begin());
    }

    Table<Region*> regions_;
};

} // namespace assay::tier
