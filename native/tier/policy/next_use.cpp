#include "tier/policy/next_use.hpp"

#include <algorithm>
#include <bit>

namespace assay::tier {

namespace {

/// So many touches of what is mapped may be passed over without a word.
constexpr std::size_t near = std::size_t{1} << 14U;
/// Where so many in a row are near one another, there is the program.
constexpr unsigned enough_together = 8;
/// Where so many in a row are not found, it does something else.
constexpr std::size_t most_strays = 4096;

/// Three words of every four are in use at most.
std::size_t slots_for(std::size_t items) {
    return std::bit_ceil(items + items / 3 + 2);
}

std::size_t count_of(const Trace& trace) {
    std::size_t touches = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) touches += trace.touch(i) ? 1U : 0U;
    return touches;
}

} // namespace

Future::Future(const Trace& trace, const Sizes& sizes)
    : sizes_(sizes), count_(count_of(trace)), touched_(count_), then_(count_), items_(count_),
      slots_(slots_for(count_)), marks_(2 * count_ + 1), expected_(trace.size()), regions_(trace.size() + 1) {
    slots_.fill(slots_for(count_));
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (const auto region = trace.region(i); region) expected_.add(*region);
        if (const auto mapped = trace.mapped(i); mapped) newest_ = std::max(newest_, *mapped);
        const auto touch = trace.touch(i);
        if (!touch) continue;
        std::uint32_t& slot = slots_[slot_of(*touch)];
        if (slot == 0) {
            items_.add(Item{*touch, 0, Where::storage, false, false, false});
            slot = static_cast<std::uint32_t>(items_.size());
        }
        touched_.add(slot - 1);
    }
    for (std::size_t i = 0; i < items_.size(); ++i) items_[i].next = static_cast<std::uint32_t>(count_ + i);
    then_.fill(count_);
    for (std::size_t when = count_; when-- > 0;)
        then_[when] = std::exchange(items_[touched_[when]].next, static_cast<std::uint32_t>(when));
}

// -- what a trace names -------------------------------------------------------------------------------------

std::size_t Future::slot_of(const Touch& touch) const {
    const std::uint64_t key = touch.number << 24U ^ std::uint64_t{touch.region} << 2U ^ touch.level;
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15U; // D. Knuth, TAOCP 3, 6.4: multiplicative hashing
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = (key * golden >> 20U) & mask;
    while (slots_[slot] != 0 && items_[slots_[slot] - 1].touch != touch) slot = (slot + 1) & mask;
    return slot;
}

const Future::Item* Future::find(const Touch& touch) const {
    const std::uint32_t found = slots_[slot_of(touch)];
    return found == 0 ? nullptr : &items_[found - 1];
}

const Future::Item* Future::item_of(const Chunk& chunk) const {
    const Region& region = *chunk.region;
    return has(region) ? find(region.touch_of(chunk.at, region.level_of(chunk))) : nullptr;
}

void Future::began(Region& region) {
    if (region.ordinal != regions_.size() || regions_.full()) return;
    const bool same =
        region.ordinal < expected_.size() && expected_[region.ordinal] == region.chunks().size();
    regions_.add(same ? &region : nullptr);
}

void Future::ended(const Region& region) {
    if (region.ordinal < regions_.size()) regions_[region.ordinal] = nullptr;
}

std::size_t Future::bytes() const {
    return touched_.size() * sizeof touched_[0] + then_.size() * sizeof then_[0] +
           items_.size() * sizeof items_[0] + slots_.size() * sizeof slots_[0] + marks_.bytes();
}

// -- what is touched ----------------------------------------------------------------------------------------

bool Future::touched(const Region& region, const std::byte* at) {
    if (!is_known()) return false;
    Item* const item = const_cast<Item*>(soonest_at(region, at)); // NOLINT: it is ours
    if (item == nullptr) return stray();
    if (std::exchange(item->passed, false)) return true;
    // The next touch of the whole is not that of another part.
    constexpr std::size_t just_now = 8, lately = 256;
    if (was_within(just_now, region, at)) return true;
    const std::size_t when = item->next;
    if (when >= count_) return was_within(lately, region, at) || stray();
    const bool is_same = when == elsewhere_; // Another part of something, which says nothing new.
    if (!is_near(when) && !is_there(when)) return was_within(lately, region, at) || (!is_same && stray());
    strays_ = together_ = 0;
    go_to(when);
    item->passed = false;
    return true;
}

bool Future::is_near(std::size_t when) const {
    // What is mapped is passed over without a word, as a rule; what is not, where threads go their own ways.
    constexpr std::size_t of_others = 1024;
    std::size_t odd = 0;
    for (std::size_t i = now_; i < when && odd <= near; ++i)
        odd += item_at(i).where == Where::mapped ? 1 : of_others;
    return odd <= near;
}

bool Future::is_there(std::size_t when) {
    const std::size_t before = std::exchange(elsewhere_, when);
    if (when != before) together_ = when > before && when - before <= 64 ? together_ + 1 : 0;
    return together_ >= enough_together;
}

/// Of what was touched as a whole the parts may be touched one by one, where it is not in memory as a whole.
bool Future::was_within(std::size_t last, const Region& region, const std::byte* at) const {
    for (std::size_t when = now_ - std::min(now_, last); when < now_; ++when)
        if (const Touch& touch = item_at(when).touch; touch == region.touch_of(at, touch.level)) return true;
    return false;
}

bool Future::stray() {
    lost_ = ++strays_ > most_strays;
    return false;
}

/// All up to this one have been.
void Future::go_to(std::size_t when) {
    for (; now_ <= when; ++now_) {
        if (now_ < ahead_) ahead_bytes_ -= bytes_at(now_);
        Item& item = item_at(now_);
        if (marks_.has(now_)) {
            marks_.clear(now_);
            marks_.set(then_[now_]);
        }
        item.passed = item.where != Where::mapped;
        item.next = then_[now_];
    }
    ahead_ = std::max(ahead_, now_);
}

/// What is known of what lies at an address, in whichever size it is touched next.
const Future::Item* Future::soonest_at(const Region& region, const std::byte* at) const {
    if (!has(region)) return nullptr;
    const Item* best = nullptr;
    std::size_t soonest = count_ + 1; // Of those that are never touched again, the smallest will do.
    for (std::size_t level = region.sizes.size(); level-- > 0;) {
        const Item* const item = find(region.touch_of(at, level));
        if (item == nullptr) continue;
        if (item->passed) return item;
        const std::size_t next = std::min<std::size_t>(item->next, count_);
        if (next < soonest) best = item;
        soonest = std::min(soonest, next);
    }
    return best;
}

std::optional<std::size_t> Future::level_at(const Region& region, const std::byte* at) const {
    if (!is_known() || !has(region)) return std::nullopt;
    if (const auto gathered = gathered_at(region, at); gathered) return gathered;
    const Item* const item = soonest_at(region, at);
    return item == nullptr ? std::nullopt : std::optional<std::size_t>(item->touch.level);
}

std::optional<std::size_t> Future::gathered_at(const Region& region, const std::byte* at) const {
    for (std::size_t level = 0; level + 1 < region.sizes.size(); ++level) {
        const Item* const item = find(region.touch_of(at, level));
        if (item == nullptr || !item->gathers) continue;
        const Item* const soonest = soonest_at(region, at);
        return soonest->touch.level > level && soonest->next < item->next ? std::nullopt
                                                                          : std::optional(level);
    }
    return std::nullopt;
}

bool Future::tells(const Chunk& chunk) const {
    constexpr std::size_t one_of = 16;
    const Item* const item = item_of(chunk);
    if (item != nullptr && item->next % one_of != 0) return false;
    return whole_at(chunk) == chunk.region->level_of(chunk);
}

std::size_t Future::whole_at(const Chunk& part) const {
    const Region& region = *part.region;
    const std::size_t own = region.level_of(part);
    return has(region) ? std::min(own, gathered_at(region, part.at).value_or(own)) : own;
}

void Future::gather(const Chunk& whole) {
    if (Item* const item = item_of(whole); item != nullptr) item->gathers = true;
}

void Future::came(const Chunk& chunk, bool mapped) {
    Item* const item = item_of(chunk);
    if (item == nullptr) return;
    item->where = mapped ? Where::mapped : Where::unmapped;
    item->gathers = false;
    marks_.set(item->next);
}

void Future::merged(const Chunk& whole) {
    for (const Chunk& part : whole.region->parts_of(whole))
        if (Item* const item = item_of(part); item != nullptr) item->where = Where::mapped;
}

void Future::stays(const Chunk& chunk) {
    Item* const item = item_of(chunk);
    if (item == nullptr) return;
    item->where = Where::mapped;
    item->gathers = false;
    marks_.clear(item->next);
}

void Future::left(const Chunk& chunk) {
    Item* const item = item_of(chunk);
    if (item == nullptr) return;
    item->where = Where::storage;
    marks_.clear(item->next);
    if (!std::exchange(item->covers, false)) return;
    ahead_ = now_;
    ahead_bytes_ = 0;
}

// -- what comes ---------------------------------------------------------------------------------------------

std::optional<Future::Coming> Future::coming(const Item& item, std::size_t when) const {
    const Touch& touch = item.touch;
    Region* const region = touch.region < regions_.size() ? regions_[touch.region] : nullptr;
    if (region == nullptr || touch.level >= region->sizes.size()) return std::nullopt;
    const std::size_t bytes = region->sizes[touch.level];
    if (touch.number >= region->bytes / bytes) return std::nullopt;
    return Coming{region, region->base + touch.number * bytes, touch.level, when};
}

std::optional<Future::Coming> Future::next(std::size_t most) {
    for (; ahead_ < count_ && ahead_bytes_ < most; pass()) {
        const Item& item = item_at(ahead_);
        const bool is_to_begin = item.touch.region >= regions_.size() && item.touch.region < expected_.size();
        if (const auto found = coming(item, ahead_); found || is_to_begin) return found;
    }
    return std::nullopt;
}

void Future::covered_by(const Chunk& chunk) {
    if (Item* const item = item_of(chunk); item != nullptr) item->covers = true;
}

std::optional<Future::Coming> Future::last() const {
    const auto when = marks_.highest();
    return when ? coming(item_at(*when), *when) : std::nullopt;
}

} // namespace assay::tier
