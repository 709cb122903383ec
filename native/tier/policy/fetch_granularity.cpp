#include "tier/policy/fetch_granularity.hpp"

#include <algorithm>
#include <bit>

namespace assay::tier {

namespace {

/// Below the first threshold, parts are cheaper: reading 64 KiB takes about a twelfth of the time of 2 MiB
/// (virtio disk, 2026-11); reading 4 KiB takes little less, but a sixteenth of the memory. Above the second,
/// chunks are cheaper. Between them the mode remains.
constexpr double parts_below = 0.25, chunks_above = 0.5;
constexpr unsigned averaged_samples = 8; ///< Samples in the moving average.

} // namespace

bool FetchGranularity::samples_next(bool alone) {
    if (parts_ == 1 || fixed_) return false;
    // A chunk outside of streams has an unknown access pattern, perhaps a sparse one.
    const unsigned one_of = sample_count_ < min_samples || doubtful_ ? (alone ? 1 : 4) : (alone ? 32 : 256);
    if (++since_sampled_ < one_of) return false;
    since_sampled_ = 0;
    return true;
}

FetchGranularity::Sample* FetchGranularity::find_sample(std::size_t chunk, const Clock& clock) {
    Sample* room = nullptr;
    for (Sample& one : samples_) {
        if (one.max_parts_reporting > 0 && one.chunk == chunk) return &one;
        if (one.max_parts_reporting > 0 && clock.now - one.since > clock.sample_length) evaluate(one);
        if (one.max_parts_reporting == 0) room = &one;
    }
    return room;
}

void FetchGranularity::mark_used(Sample& one, std::size_t part) {
    one.used |= std::uint64_t{1} << part;
    if (static_cast<std::size_t>(std::popcount(one.used)) >= one.max_parts_reporting) evaluate(one);
}

void FetchGranularity::evaluate(Sample& one) {
    const double used =
        static_cast<double>(std::popcount(one.used)) / static_cast<double>(one.max_parts_reporting);
    one.max_parts_reporting = 0;
    sample_count_ = std::min(sample_count_ + 1, averaged_samples);
    used_share_ += (std::min(used, 1.0) - used_share_) / sample_count_;
    const double part_granularity = part_granularity_ != nullptr ? part_granularity_->used_share() : 1.0;
    doubtful_ = !uses_parts_ && used * part_granularity < parts_below;
    if (sample_count_ < min_samples) return;
    if (used_share_ * part_granularity < parts_below) uses_parts_ = true;
    if (used_share_ * part_granularity > chunks_above) uses_parts_ = false;
}

} // namespace assay::tier
