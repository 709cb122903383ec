#include "tier/advisor/large_mappings.hpp"

#include <algorithm>
#include <utility>

namespace assay::tier {

namespace {

constexpr std::size_t most_areas = 1024;

} // namespace

std::uint64_t Area::pages_of(std::int64_t granule) const {
    const auto begin = static_cast<std::uint64_t>(granule) * Granule::bytes;
    std::uint64_t pages = ~std::uint64_t{0};
    if (from > begin) pages &= ~std::uint64_t{0} << (from - begin) / page;
    if (to < begin + Granule::bytes) pages &= ~(~std::uint64_t{0} << (to - begin) / page);
    return pages;
}

Areas::Areas(std::size_t least, std::size_t memory_bytes)
    : maps_(least), meter_(2 * most_areas, memory_bytes, page, Meter::How::advisor), spans_(most_areas),
      now_(most_areas), before_(most_areas) {}

bool Areas::find() {
    maps_.read(spans_);
    if (are(spans_)) return false;
    std::swap(now_, before_);
    now_.fill(0);
    for (const Span& span : spans_) {
        Area& area = now_.add(span.from, span.to, nullptr);
        Area* const same = std::ranges::find_if(before_, [&area](const Area& one) {
            return one.shown != nullptr && one.from < area.to && area.from < one.to;
        });
        area.shown = same != before_.end() ? std::exchange(same->shown, nullptr)
                                           : &meter_.begin(address(span.from), 0);
        area.shown->base = span.from;
        area.shown->bytes = span.to - span.from;
    }
    for (const Area& area : before_) {
        if (area.shown == nullptr) continue;
        past_ += area.shown->counts;
        meter_.end(*area.shown);
    }
    return true;
}

bool Areas::are(const Table<Span>& spans) const {
    return std::ranges::equal(now_, spans,
                              [](const Area& a, const Span& b) { return a.from == b.from && a.to == b.to; });
}

Area* Areas::at(std::int64_t granule) {
    Area* const after = std::ranges::upper_bound(now_, granule, {}, &Area::first);
    return after == now_.begin() || (after - 1)->last() < granule ? nullptr : after - 1;
}

Counts Areas::counts() const {
    Counts all = past_;
    for (const Area& area : now_) all += area.shown->counts;
    return all;
}

Counts& Areas::counts_of(std::int64_t granule) {
    const Area* const area = at(granule);
    return area == nullptr ? past_ : area->shown->counts;
}

} // namespace assay::tier
