#include "tier/advisor/granule_table.hpp"

namespace assay::tier {

Granules::~Granules() {
    for (Granule* const slab : slabs_)
        if (slab != nullptr) sys::unmap(slab, in_slab * sizeof(Granule));
}

Granule* Granules::find(std::int64_t number) {
    const auto place = static_cast<std::uint64_t>(number);
    if (place >= end) return nullptr;
    Granule* const slab = slabs_[place / in_slab];
    return slab == nullptr ? nullptr : slab + place % in_slab;
}

Granule* Granules::at(std::int64_t number) {
    const auto place = static_cast<std::uint64_t>(number);
    if (place >= end) return nullptr;
    Granule*& slab = slabs_[place / in_slab];
    // Zeros are granules of which nothing is known.
    if (slab == nullptr) slab = reinterpret_cast<Granule*>(sys::map(in_slab * sizeof(Granule)));
    return slab == nullptr ? nullptr : slab + place % in_slab;
}

void Granules::arrived(std::int64_t number) {
    Granule& granule = *find(number);
    if (granule.listed) unlink(granule);
    const auto own = static_cast<std::uint32_t>(number);
    granule.before = last_;
    granule.after = 0;
    granule.listed = true;
    (last_ == 0 ? first_ : find(last_)->after) = own;
    last_ = own;
}

void Granules::left(std::int64_t number) {
    Granule& granule = *find(number);
    if (granule.listed) unlink(granule);
}

void Granules::unlink(Granule& granule) {
    (granule.before == 0 ? first_ : find(granule.before)->after) = granule.after;
    (granule.after == 0 ? last_ : find(granule.after)->before) = granule.before;
    granule.listed = false;
}

} // namespace assay::tier
