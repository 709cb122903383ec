#include "tier/policy/next_use.hpp"

#include <algorithm>
#include <bit>

namespace assay::tier {

namespace {

/// Accesses to mapped chunks that may be skipped in the trace without a fault.
constexpr std::size_t max_silent_accesses = std::size_t{1} << 14U;
/// Consecutive accesses near each other that confirm a jump in the trace.
constexpr unsigned min_consistent_jumps = 8;
/// Consecutive unmatched accesses after which the program has diverged.
constexpr std::size_t max_unmatched = 4096;

/// Return the size of the hash table, at most three quarters full.
std::size_t slots_for(std::size_t items) {
    return std::bit_ceil(items + items / 3 + 2);
}

std::size_t count_accesses(const AccessTrace& trace) {
    std::size_t accesses = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) accesses += trace.access(i) ? 1U : 0U;
    return accesses;
}

} // namespace

NextUse::NextUse(const AccessTrace& trace, const ChunkSizes& sizes)
    : sizes_(sizes), count_(count_accesses(trace)), accesses_(count_), next_access_(count_), entries_(count_),
      slots_(slots_for(count_)), resident_next_uses_(2 * count_ + 1), expected_chunks_(trace.size()),
      regions_(trace.size() + 1) {
    slots_.fill(slots_for(count_));
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (const auto region = trace.region(i); region) expected_chunks_.add(*region);
        if (const auto mapped = trace.mapped(i); mapped) recent_bytes_ = std::max(recent_bytes_, *mapped);
        const auto access = trace.access(i);
        if (!access) continue;
        std::uint32_t& slot = slots_[slot_of(*access)];
        if (slot == 0) {
            entries_.add(Entry{*access, 0, Location::storage, false, false, false});
            slot = static_cast<std::uint32_t>(entries_.size());
        }
        accesses_.add(slot - 1);
    }
    for (std::size_t i = 0; i < entries_.size(); ++i)
        entries_[i].next = static_cast<std::uint32_t>(count_ + i);
    next_access_.fill(count_);
    for (std::size_t when = count_; when-- > 0;)
        next_access_[when] = std::exchange(entries_[accesses_[when]].next, static_cast<std::uint32_t>(when));
}

// -- trace entries ------------------------------------------------------------------------------------------

std::size_t NextUse::slot_of(const Access& access) const {
    const std::uint64_t key = access.number << 24U ^ std::uint64_t{access.region} << 2U ^ access.level;
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15U; // D. Knuth, TAOCP 3, 6.4: multiplicative hashing
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = (key * golden >> 20U) & mask;
    while (slots_[slot] != 0 && entries_[slots_[slot] - 1].access != access) slot = (slot + 1) & mask;
    return slot;
}

const NextUse::Entry* NextUse::find(const Access& access) const {
    const std::uint32_t found = slots_[slot_of(access)];
    return found == 0 ? nullptr : &entries_[found - 1];
}

const NextUse::Entry* NextUse::entry_of(const Chunk& chunk) const {
    const Region& region = *chunk.region;
    return owns(region) ? find(region.access_of(chunk.at, region.level_of(chunk))) : nullptr;
}

void NextUse::region_added(Region& region) {
    if (region.ordinal != regions_.size() || regions_.full()) return;
    const bool same = region.ordinal < expected_chunks_.size() &&
                      expected_chunks_[region.ordinal] == region.chunks().size();
    regions_.add(same ? &region : nullptr);
}

void NextUse::region_removed(const Region& region) {
    if (region.ordinal < regions_.size()) regions_[region.ordinal] = nullptr;
}

std::size_t NextUse::bytes() const {
    return accesses_.size() * sizeof accesses_[0] + next_access_.size() * sizeof next_access_[0] +
           entries_.size() * sizeof entries_[0] + slots_.size() * sizeof slots_[0] +
           resident_next_uses_.bytes();
}

// -- accesses -----------------------------------------------------------------------------------------------

bool NextUse::on_access(const Region& region, const std::byte* at) {
    if (!is_valid()) return false;
    Entry* const entry = const_cast<Entry*>(soonest_entry_at(region, at)); // NOLINT: it is ours
    if (entry == nullptr) return on_unmatched();
    if (std::exchange(entry->overtaken, false)) return true;
    // After an access to a whole chunk, accesses to its parts are not its next use.
    constexpr std::size_t just_now = 8, lately = 256;
    if (was_accessed_within(just_now, region, at)) return true;
    const std::size_t when = entry->next;
    if (when >= count_) return was_accessed_within(lately, region, at) || on_unmatched();
    const bool is_same = when == last_jump_; // Another part of the same chunk adds no information.
    if (!is_reachable(when) && !confirms_jump(when))
        return was_accessed_within(lately, region, at) || (!is_same && on_unmatched());
    unmatched_ = consistent_jumps_ = 0;
    advance_to(when);
    entry->overtaken = false;
    return true;
}

bool NextUse::is_reachable(std::size_t when) const {
    // Accesses to mapped chunks raise no fault. Accesses to other chunks are skipped only if threads run at
    // different speeds, so they weigh more.
    constexpr std::size_t unmapped_weight = 1024;
    std::size_t skipped = 0;
    for (std::size_t i = position_; i < when && skipped <= max_silent_accesses; ++i)
        skipped += entry_at(i).location == Location::mapped ? 1 : unmapped_weight;
    return skipped <= max_silent_accesses;
}

bool NextUse::confirms_jump(std::size_t when) {
    const std::size_t before = std::exchange(last_jump_, when);
    if (when != before) consistent_jumps_ = when > before && when - before <= 64 ? consistent_jumps_ + 1 : 0;
    return consistent_jumps_ >= min_consistent_jumps;
}

/// Parts of a chunk that the trace accesses as a whole may fault one by one.
bool NextUse::was_accessed_within(std::size_t last_count, const Region& region, const std::byte* at) const {
    for (std::size_t when = position_ - std::min(position_, last_count); when < position_; ++when)
        if (const Access& access = entry_at(when).access; access == region.access_of(at, access.level))
            return true;
    return false;
}

bool NextUse::on_unmatched() {
    diverged_ = ++unmatched_ > max_unmatched;
    return false;
}

/// Mark all accesses up to a position as past.
void NextUse::advance_to(std::size_t when) {
    for (; position_ <= when; ++position_) {
        if (position_ < lookahead_) lookahead_bytes_ -= bytes_at(position_);
        Entry& entry = entry_at(position_);
        if (resident_next_uses_.has(position_)) {
            resident_next_uses_.clear(position_);
            resident_next_uses_.set(next_access_[position_]);
        }
        entry.overtaken = entry.location != Location::mapped;
        entry.next = next_access_[position_];
    }
    lookahead_ = std::max(lookahead_, position_);
}

/// Return the entry at an address that is accessed next, of whatever size.
const NextUse::Entry* NextUse::soonest_entry_at(const Region& region, const std::byte* at) const {
    if (!owns(region)) return nullptr;
    const Entry* best = nullptr;
    std::size_t soonest = count_ + 1; // Of chunks that are never accessed again, the smallest is returned.
    for (std::size_t level = region.sizes.size(); level-- > 0;) {
        const Entry* const entry = find(region.access_of(at, level));
        if (entry == nullptr) continue;
        if (entry->overtaken) return entry;
        const std::size_t next = std::min<std::size_t>(entry->next, count_);
        if (next < soonest) best = entry;
        soonest = std::min(soonest, next);
    }
    return best;
}

std::optional<std::size_t> NextUse::level_at(const Region& region, const std::byte* at) const {
    if (!is_valid() || !owns(region)) return std::nullopt;
    if (const auto level = reassembly_level_at(region, at); level) return level;
    const Entry* const entry = soonest_entry_at(region, at);
    return entry == nullptr ? std::nullopt : std::optional<std::size_t>(entry->access.level);
}

std::optional<std::size_t> NextUse::reassembly_level_at(const Region& region, const std::byte* at) const {
    for (std::size_t level = 0; level + 1 < region.sizes.size(); ++level) {
        const Entry* const entry = find(region.access_of(at, level));
        if (entry == nullptr || !entry->reassembling) continue;
        const Entry* const soonest = soonest_entry_at(region, at);
        return soonest->access.level > level && soonest->next < entry->next ? std::nullopt
                                                                            : std::optional(level);
    }
    return std::nullopt;
}

bool NextUse::reveals_position(const Chunk& chunk) const {
    constexpr std::size_t one_of = 16;
    const Entry* const entry = entry_of(chunk);
    if (entry != nullptr && entry->next % one_of != 0) return false;
    return merge_level(chunk) == chunk.region->level_of(chunk);
}

std::size_t NextUse::merge_level(const Chunk& part) const {
    const Region& region = *part.region;
    const std::size_t own = region.level_of(part);
    return owns(region) ? std::min(own, reassembly_level_at(region, part.at).value_or(own)) : own;
}

void NextUse::reassemble(const Chunk& whole) {
    if (Entry* const entry = entry_of(whole); entry != nullptr) entry->reassembling = true;
}

void NextUse::on_fetched(const Chunk& chunk, bool mapped) {
    Entry* const entry = entry_of(chunk);
    if (entry == nullptr) return;
    entry->location = mapped ? Location::mapped : Location::unmapped;
    entry->reassembling = false;
    resident_next_uses_.set(entry->next);
}

void NextUse::on_merged(const Chunk& whole) {
    for (const Chunk& part : whole.region->parts_of(whole))
        if (Entry* const entry = entry_of(part); entry != nullptr) entry->location = Location::mapped;
}

void NextUse::retain(const Chunk& chunk) {
    Entry* const entry = entry_of(chunk);
    if (entry == nullptr) return;
    entry->location = Location::mapped;
    entry->reassembling = false;
    resident_next_uses_.clear(entry->next);
}

void NextUse::on_evicted(const Chunk& chunk) {
    Entry* const entry = entry_of(chunk);
    if (entry == nullptr) return;
    entry->location = Location::storage;
    resident_next_uses_.clear(entry->next);
    if (!std::exchange(entry->covers_parts, false)) return;
    lookahead_ = position_;
    lookahead_bytes_ = 0;
}

// -- prefetch candidates ------------------------------------------------------------------------------------

std::optional<NextUse::UpcomingAccess> NextUse::upcoming(const Entry& entry, std::size_t when) const {
    const Access& access = entry.access;
    Region* const region = access.region < regions_.size() ? regions_[access.region] : nullptr;
    if (region == nullptr || access.level >= region->sizes.size()) return std::nullopt;
    const std::size_t bytes = region->sizes[access.level];
    if (access.number >= region->bytes / bytes) return std::nullopt;
    return UpcomingAccess{region, region->base + access.number * bytes, access.level, when};
}

std::optional<NextUse::UpcomingAccess> NextUse::next(std::size_t max) {
    for (; lookahead_ < count_ && lookahead_bytes_ < max; skip()) {
        const Entry& entry = entry_at(lookahead_);
        const bool is_region_pending =
            entry.access.region >= regions_.size() && entry.access.region < expected_chunks_.size();
        if (const auto found = upcoming(entry, lookahead_); found || is_region_pending) return found;
    }
    return std::nullopt;
}

void NextUse::covered_by(const Chunk& chunk) {
    if (Entry* const entry = entry_of(chunk); entry != nullptr) entry->covers_parts = true;
}

std::optional<NextUse::UpcomingAccess> NextUse::farthest() const {
    const auto when = resident_next_uses_.highest();
    return when ? upcoming(entry_at(*when), *when) : std::nullopt;
}

} // namespace assay::tier
