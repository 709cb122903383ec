#include "tier/policy/fetch_granularity.hpp"

#include <algorithm>
#include <bit>

namespace assay::tier {

namespace {

/// Below the first, parts cost less than chunks: a transfer of 64 KiB takes about a twelfth of the time that
/// one of 2 MiB does (virtio disk, 2026-11), and one of 4 KiB takes little less, but for a sixteenth of the
/// memory. Above the second, chunks do. Between them all stays as it is.
constexpr double few = 0.25, most = 0.5;
constexpr unsigned remembered = 8; ///< Chunks of an average.

} // namespace

bool Grain::watches_next(bool alone) {
    if (parts_ == 1 || told_) return false;
    // What nothing had told is used in an order that is not known, perhaps a little at a time.
    const unsigned one_of = judged_ < enough || doubts_ ? (alone ? 1 : 4) : (alone ? 32 : 256);
    if (++since_watched_ < one_of) return false;
    since_watched_ = 0;
    return true;
}

Grain::Watched* Grain::watched(std::size_t chunk, const Clock& clock) {
    Watched* room = nullptr;
    for (Watched& one : watched_) {
        if (one.most > 0 && one.chunk == chunk) return &one;
        if (one.most > 0 && clock.now - one.since > clock.long_enough) judge(one);
        if (one.most == 0) room = &one;
    }
    return room;
}

void Grain::use(Watched& one, std::size_t part) {
    one.used |= std::uint64_t{1} << part;
    if (static_cast<std::size_t>(std::popcount(one.used)) >= one.most) judge(one);
}

void Grain::judge(Watched& one) {
    const double used = static_cast<double>(std::popcount(one.used)) / static_cast<double>(one.most);
    one.most = 0;
    judged_ = std::min(judged_ + 1, remembered);
    share_ += (std::min(used, 1.0) - share_) / judged_;
    const double of_parts = of_parts_ != nullptr ? of_parts_->share() : 1.0;
    doubts_ = !fine_ && used * of_parts < few;
    if (judged_ < enough) return;
    if (share_ * of_parts < few) fine_ = true;
    if (share_ * of_parts > most) fine_ = false;
}

} // namespace assay::tier
