#include "tier/advisor/resident_set.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace assay::tier {

namespace {

/// Pages of a granule that are touched before it counts: fewer are touched by chance.
constexpr int enough = Granule::pages / 4;

std::size_t count_of(std::uint64_t pages) {
    return static_cast<std::size_t>(std::popcount(pages));
}

void advise(const Area& area, Piece piece, int advice) {
    const std::uint64_t from = std::max(area.from, static_cast<std::uint64_t>(piece.first) * Granule::bytes);
    const std::uint64_t to = std::min(area.to, static_cast<std::uint64_t>(piece.last + 1) * Granule::bytes);
    // What is not taken, for it is locked or has been unmapped since, shows at the next look.
    static_cast<void>(sys::advise(address(from), to - from, advice));
}

} // namespace

std::size_t ResidentSet::pages_of(const Area& area) {
    std::size_t held = 0;
    for (std::int64_t number = area.first(); number <= area.last(); ++number)
        if (const Granule* const one = granules_.find(number); one != nullptr)
            held += count_of(one->present & area.pages_of(number));
    return held;
}

std::size_t ResidentSet::awaited(std::int64_t number) {
    const Granule* const one = granules_.find(number);
    return one == nullptr ? 0 : count_of(one->ahead);
}

std::uint64_t ResidentSet::note(const Area& area, std::int64_t number, const Pagemap::Seen& seen) {
    const std::uint64_t own = area.pages_of(number);
    const std::uint64_t swapped = seen.swapped & ~seen.present & own;
    const bool any = (seen.present & own) != 0 || swapped != 0;
    Granule* const one = any ? granules_.at(number) : granules_.find(number);
    if (one == nullptr) return 0;
    const std::uint64_t present = (seen.present & own) | (one->present & ~own);
    const std::uint64_t came = present & ~one->present, gone = one->present & ~present;
    const std::uint64_t used = one->ahead & present, dropped = one->ahead & own & ~present & ~swapped;
    area.shown->counts.staged += count_of(used);
    one->ahead &= ~(used | dropped);
    ahead_ -= count_of(used | dropped);
    pages_ += count_of(came);
    pages_ -= count_of(gone);
    one->present = present;
    if (gone != 0) one->told = false;
    one->fresh = one->told ? 0 : (one->fresh | came) & present;
    if (present == 0) {
        one->came = false;
        granules_.left(number);
    } else if (came != 0) {
        granules_.arrived(number);
    }
    return swapped & ~one->ahead;
}

bool ResidentSet::has_come(std::int64_t number) {
    Granule* const one = granules_.find(number);
    if (one == nullptr || one->told || std::popcount(one->fresh) < enough) return false;
    one->told = one->came = true;
    one->fresh = 0;
    return true;
}

std::size_t ResidentSet::ask_for(const Area& area, Piece piece) {
    std::size_t asked = 0;
    const Pagemap::Seen* const seen = pagemap_.read(piece.first, piece.count());
    for (std::int64_t number = piece.first; number <= piece.last; ++number) {
        const std::uint64_t pages = note(area, number, seen[number - piece.first]);
        if (pages == 0) continue;
        granules_.find(number)->ahead |= pages;
        asked += count_of(pages);
    }
    if (asked == 0) return 0;
    advise(area, piece, MADV_WILLNEED);
    area.shown->counts.read_bytes += asked * page;
    ahead_ += asked;
    return asked;
}

std::size_t ResidentSet::give_up(std::int64_t number) {
    Granule* const one = granules_.find(number);
    if (one == nullptr) return 0;
    const std::size_t pages = count_of(std::exchange(one->ahead, 0));
    ahead_ -= pages;
    return pages;
}

std::size_t ResidentSet::page_out(const Area& area, Piece piece) {
    const std::size_t before = pages_;
    advise(area, piece, MADV_PAGEOUT);
    const Pagemap::Seen* const seen = pagemap_.read(piece.first, piece.count());
    for (std::int64_t number = piece.first; number <= piece.last; ++number) {
        note(area, number, seen[number - piece.first]);
        // What has stayed (it is locked, or shared with a child) is not tried again at once.
        if (const Granule* const one = granules_.find(number); one != nullptr && one->present != 0)
            granules_.arrived(number);
    }
    const std::size_t gone = before - std::min(before, pages_);
    area.shown->counts.written_bytes += gone * page;
    return gone;
}

void ResidentSet::forget(std::int64_t number) {
    Granule& one = *granules_.find(number);
    ahead_ -= count_of(one.ahead);
    pages_ -= count_of(one.present);
    granules_.left(number);
    one = {};
}

} // namespace assay::tier
