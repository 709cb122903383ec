#include "tier/advisor/granule_table.hpp"

namespace assay::tier {

GranuleTable::~GranuleTable() {
    for (Granule* const slab : slabs_)
        if (slab != nullptr) sys::unmap(slab, slab_granules * sizeof(Granule));
}

Granule* GranuleTable::find(std::int64_t number) {
    const auto place = static_cast<std::uint64_t>(number);
    if (place >= end) return nullptr;
    Granule* const slab = slabs_[place / slab_granules];
    return slab == nullptr ? nullptr : slab + place % slab_granules;
}

Granule* GranuleTable::at(std::int64_t number) {
    const auto place = static_cast<std::uint64_t>(number);
    if (place >= end) return nullptr;
    Granule*& slab = slabs_[place / slab_granules];
    // Zeros are valid empty entries.
    if (slab == nullptr) slab = reinterpret_cast<Granule*>(sys::map(slab_granules * sizeof(Granule)));
    return slab == nullptr ? nullptr : slab + place % slab_granules;
}

void GranuleTable::arrived(std::int64_t number) {
    Granule& granule = *find(number);
    if (granule.listed) unlink(granule);
    const auto added = static_cast<std::uint32_t>(number);
    granule.before = last_;
    granule.after = 0;
    granule.listed = true;
    (last_ == 0 ? first_ : find(last_)->after) = added;
    last_ = added;
}

void GranuleTable::remove(std::int64_t number) {
    Granule& granule = *find(number);
    if (granule.listed) unlink(granule);
}

void GranuleTable::unlink(Granule& granule) {
    (granule.before == 0 ? first_ : find(granule.before)->after) = granule.after;
    (granule.after == 0 ? last_ : find(granule.after)->before) = granule.before;
    granule.listed = false;
}

} // namespace assay::tier
