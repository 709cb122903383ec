#pragma once

#include "tier/base/ordered_bitset.hpp"
#include "tier/memory/region.hpp"
#include "tier/policy/access_trace.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace assay::tier {

/// Next use of each chunk according to a recorded trace: yields prefetch candidates, and the resident chunk
/// with the farthest next use (L. Belady, A study of replacement algorithms for a virtual-storage computer,
/// 1966; scheduling of prefetches: P. Cao et al., A study of integrated prefetching and caching strategies,
/// 1995).
///
/// Page faults reveal the position of the program in the trace. Threads may deviate from the recorded order:
/// skipped accesses are remembered for a while. After many unmatched accesses the program has diverged, and
/// the trace is abandoned.
class NextUse {
  public:
    /// \param sizes chunk sizes. \throws std::bad_alloc.
    NextUse(const AccessTrace& trace, const ChunkSizes& sizes);

    /// Return true while accesses remain and the program follows the trace.
    [[nodiscard]] bool is_valid() const { return position_ < count_ && !diverged_; }
    /// Return true if the program has diverged from the trace.
    [[nodiscard]] bool has_diverged() const { return diverged_; }
    /// Return the bytes mapped last, among which the recorder saw no repeated accesses.
    [[nodiscard]] std::size_t recent_bytes() const { return recent_bytes_; }
    /// Return the memory in use.
    [[nodiscard]] std::size_t bytes() const;

    void region_added(Region& region);
    void region_removed(const Region& region);

    /// Match a fault with the trace. \returns false if no match exists.
    bool on_access(const Region& region, const std::byte* at);
    /// Return the level of the next access at an address, if known.
    [[nodiscard]] std::optional<std::size_t> level_at(const Region& region, const std::byte* at) const;
    /// Mark a chunk as being reassembled from parts, some of them resident.
    void reassemble(const Chunk& whole);
    /// Return the level of the chunk that a part will be merged into, or its own level.
    [[nodiscard]] std::size_t merge_level(const Chunk& part) const;
    /// Return true if the next access of a chunk must fault, to reveal the position of the program. Others
    /// need not, nor parts to be merged.
    [[nodiscard]] bool reveals_position(const Chunk& chunk) const;
    /// Record a chunk as resident. \param mapped its next access does not fault.
    void on_fetched(const Chunk& chunk, bool mapped);
    /// Record merged parts as mapped: the position skips them without a fault.
    void on_merged(const Chunk& whole);
    /// Exclude a mapped chunk from `farthest` until it is recorded as fetched again.
    void retain(const Chunk& chunk);
    void on_evicted(const Chunk& chunk);

    /// Upcoming access to a chunk. Chunks without further use have times beyond the end of the trace.
    struct UpcomingAccess {
        Region* region;
        std::byte* at;
        std::size_t level;
        std::size_t when;
    };
    /// Return the next access that was neither skipped nor past.
    ///
    /// \param max bytes to look ahead: later, chunks resident now may have been evicted.
    [[nodiscard]] std::optional<UpcomingAccess> next(std::size_t max);
    /// Record that the candidate is part of a resident chunk.
    void covered_by(const Chunk& chunk);
    void skip() { lookahead_bytes_ += bytes_at(lookahead_++); }
    /// Return the resident chunk with the farthest next use.
    [[nodiscard]] std::optional<UpcomingAccess> farthest() const;

  private:
    /// State of a chunk in the trace.
    enum class Location : std::uint8_t { storage, unmapped, mapped };
    struct Entry {
        Access access;
        std::uint32_t next; ///< Time of its next access.
        Location location;
        bool reassembling; ///< Being reassembled from parts.
        bool covers_parts; ///< Prefetch skipped its parts, because it is resident.
        bool overtaken;    ///< Later accesses of the trace were observed before its own.
    };

    [[nodiscard]] const Entry* find(const Access& access) const;
    [[nodiscard]] const Entry* soonest_entry_at(const Region& region, const std::byte* at) const;
    [[nodiscard]] const Entry* entry_of(const Chunk& chunk) const;
    [[nodiscard]] Entry* entry_of(const Chunk& chunk) {
        return const_cast<Entry*>(std::as_const(*this).entry_of(chunk)); // NOLINT: it is ours
    }
    /// Return the level of the chunk that is reassembled from parts around an address; nothing if the part is
    /// accessed by itself before.
    [[nodiscard]] std::optional<std::size_t> reassembly_level_at(const Region& region,
                                                                 const std::byte* at) const;
    [[nodiscard]] std::size_t slot_of(const Access& access) const;
    [[nodiscard]] std::optional<UpcomingAccess> upcoming(const Entry& entry, std::size_t when) const;
    [[nodiscard]] bool is_reachable(std::size_t when) const;
    [[nodiscard]] bool confirms_jump(std::size_t when);
    [[nodiscard]] bool owns(const Region& region) const {
        return region.ordinal < regions_.size() && regions_[region.ordinal] == &region;
    }
    /// Return true if an address was among the last accesses.
    [[nodiscard]] bool was_accessed_within(std::size_t last_count, const Region& region,
                                           const std::byte* at) const;
    [[nodiscard]] bool on_unmatched();
    void advance_to(std::size_t when);
    [[nodiscard]] Entry& entry_at(std::size_t when) {
        return entries_[when < count_ ? accesses_[when] : when - count_];
    }
    [[nodiscard]] std::size_t bytes_at(std::size_t when) const { return sizes_[entry_at(when).access.level]; }
    [[nodiscard]] const Entry& entry_at(std::size_t when) const {
        return entries_[when < count_ ? accesses_[when] : when - count_];
    }

    ChunkSizes sizes_;
    std::size_t count_ = 0;           ///< Number of accesses.
    std::size_t position_ = 0;        ///< Index of the next access.
    std::size_t lookahead_bytes_ = 0; ///< Bytes between position and lookahead.
    std::size_t lookahead_ = 0;       ///< Index of the next prefetch candidate.
    std::size_t unmatched_ = 0;       ///< Consecutive accesses without a match.
    std::size_t last_jump_ = 0;       ///< Index of the last match that was not reachable.
    unsigned consistent_jumps_ = 0;   ///< Number of consecutive matches near `last_jump_`.
    bool diverged_ = false;
    std::size_t recent_bytes_ = 0;
    Table<std::uint32_t> accesses_; ///< Entry of each access.
    /// Index of the next access to the same chunk; `count_` or more: none.
    Table<std::uint32_t> next_access_;
    Table<Entry> entries_;
    Table<std::uint32_t> slots_;           ///< Hash table of entries: index plus one; 0: empty.
    OrderedBitset resident_next_uses_;     ///< Times of next use of all resident chunks.
    Table<std::uint64_t> expected_chunks_; ///< Sizes of the regions in the trace, in chunks.
    Table<Region*> regions_;               ///< In order of creation.
};

} // namespace assay::tier
