#include "tier/advisor/large_mappings.hpp"

#include <algorithm>
#include <utility>

namespace assay::tier {

namespace {

constexpr std::size_t max_mappings = 1024;

} // namespace

std::uint64_t LargeMapping::pages_of(std::int64_t granule) const {
    const auto begin = static_cast<std::uint64_t>(granule) * Granule::bytes;
    std::uint64_t pages = ~std::uint64_t{0};
    if (from > begin) pages &= ~std::uint64_t{0} << (from - begin) / page;
    if (to < begin + Granule::bytes) pages &= ~(~std::uint64_t{0} << (to - begin) / page);
    return pages;
}

LargeMappings::LargeMappings(std::size_t min, std::size_t memory_bytes)
    : maps_(min), meter_(2 * max_mappings, memory_bytes, page, Meter::Engine::advisor), spans_(max_mappings),
      current_(max_mappings), previous_(max_mappings) {}

bool LargeMappings::update() {
    maps_.read(spans_);
    if (matches(spans_)) return false;
    std::swap(current_, previous_);
    current_.fill(0);
    for (const AddressRange& span : spans_) {
        LargeMapping& mapping = current_.add(span.from, span.to, nullptr);
        LargeMapping* const same = std::ranges::find_if(previous_, [&mapping](const LargeMapping& one) {
            return one.meter_entry != nullptr && one.from < mapping.to && mapping.from < one.to;
        });
        mapping.meter_entry = same != previous_.end() ? std::exchange(same->meter_entry, nullptr)
                                                      : &meter_.begin(address(span.from), 0);
        mapping.meter_entry->base = span.from;
        mapping.meter_entry->bytes = span.to - span.from;
    }
    for (const LargeMapping& mapping : previous_) {
        if (mapping.meter_entry == nullptr) continue;
        removed_counts_ += mapping.meter_entry->counts;
        meter_.end(*mapping.meter_entry);
    }
    return true;
}

bool LargeMappings::matches(const Table<AddressRange>& spans) const {
    return std::ranges::equal(current_, spans, [](const LargeMapping& a, const AddressRange& b) {
        return a.from == b.from && a.to == b.to;
    });
}

LargeMapping* LargeMappings::at(std::int64_t granule) {
    LargeMapping* const after = std::ranges::upper_bound(current_, granule, {}, &LargeMapping::first);
    return after == current_.begin() || (after - 1)->last() < granule ? nullptr : after - 1;
}

Counts LargeMappings::counts() const {
    Counts all = removed_counts_;
    for (const LargeMapping& mapping : current_) all += mapping.meter_entry->counts;
    return all;
}

Counts& LargeMappings::counts_of(std::int64_t granule) {
    const LargeMapping* const mapping = at(granule);
    return mapping == nullptr ? removed_counts_ : mapping->meter_entry->counts;
}

} // namespace assay::tier
