#pragma once

#include "tier/base/ordered_bitset.hpp"
#include "tier/memory/region.hpp"
#include "tier/policy/access_trace.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace assay::tier {

/// What a program is going to touch, as a trace of the same program has it: what is to be brought next, and
/// what is not needed for longest (L. Belady, A study of replacement algorithms for a virtual-storage
/// computer, 1966; when to bring what: P. Cao et al., A study of integrated prefetching and caching
/// strategies, 1995).
///
/// Where the program is shows in its touches of what is not mapped. Threads need not come in the order of the
/// trace: what is passed over is remembered for a while. Where touches are not found for long, the program
/// does something else, and the trace is followed no more.
class NextUse {
  public:
    /// \param sizes of chunks. \throws std::bad_alloc.
    NextUse(const AccessTrace& trace, const ChunkSizes& sizes);

    /// Something is still to come.
    [[nodiscard]] bool is_valid() const { return position_ < count_ && !diverged_; }
    /// The program does something else.
    [[nodiscard]] bool has_diverged() const { return diverged_; }
    /// Bytes that came last, among which a touch says nothing.
    [[nodiscard]] std::size_t recent_bytes() const { return recent_bytes_; }
    /// Of memory that it takes.
    [[nodiscard]] std::size_t bytes() const;

    void region_added(Region& region);
    void region_removed(const Region& region);

    /// A thread touched what was not mapped. \returns false where it is not found in the trace.
    bool on_access(const Region& region, const std::byte* at);
    /// The size of which what lies at an address is touched next, where that is known.
    [[nodiscard]] std::optional<std::size_t> level_at(const Region& region, const std::byte* at) const;
    /// What is touched next as a whole is in parts, some of them in memory: the others come.
    void gather(const Chunk& whole);
    /// The size of what a part is to be one with, or its own.
    [[nodiscard]] std::size_t whole_at(const Chunk& part) const;
    /// Whether the next touch of a chunk is one by which it shows where the program is. Others need not tell,
    /// nor parts of what is to be one.
    [[nodiscard]] bool reveals_position(const Chunk& chunk) const;
    /// A chunk is in memory. \param mapped its next touch does not tell.
    void on_fetched(const Chunk& chunk, bool mapped);
    /// Parts that were mapped are one: they are passed over without a word.
    void on_merged(const Chunk& whole);
    /// It is mapped, and not to be the last one of `last`, until it is said to have come again.
    void retain(const Chunk& chunk);
    void on_evicted(const Chunk& chunk);

    /// A chunk that will be touched. What is not needed any more has a time too, later than all others.
    struct UpcomingAccess {
        Region* region;
        std::byte* at;
        std::size_t level;
        std::size_t when;
    };
    /// The one after that which was passed last, or after the last touch.
    ///
    /// \param most bytes of all that are touched until then: what is in memory now may be gone by later
    /// times.
    [[nodiscard]] std::optional<UpcomingAccess> next(std::size_t max);
    /// What was next is part of a chunk that is in memory.
    void covered_by(const Chunk& chunk);
    void skip() { lookahead_bytes_ += bytes_at(lookahead_++); }
    /// Of all that are in memory, the one that is touched last.
    [[nodiscard]] std::optional<UpcomingAccess> farthest() const;

  private:
    /// What is known of a chunk that the trace names.
    enum class Location : std::uint8_t { storage, unmapped, mapped };
    struct Entry {
        Access access;
        std::uint32_t next; ///< When it is touched next.
        Location location;
        bool gathering;    ///< Its parts come, to be one.
        bool covers_parts; ///< Its parts are touched too, and were passed for it is in memory.
        bool overtaken;    ///< Touches of others that come later in the trace were seen before its own.
    };

    [[nodiscard]] const Entry* find(const Access& access) const;
    [[nodiscard]] const Entry* soonest_entry_at(const Region& region, const std::byte* at) const;
    [[nodiscard]] const Entry* entry_of(const Chunk& chunk) const;
    [[nodiscard]] Entry* entry_of(const Chunk& chunk) {
        return const_cast<Entry*>(std::as_const(*this).entry_of(chunk)); // NOLINT: it is ours
    }
    /// The level of what comes in parts to be one; none for a part that is touched by itself before that.
    [[nodiscard]] std::optional<std::size_t> gathering_level_at(const Region& region,
                                                                const std::byte* at) const;
    [[nodiscard]] std::size_t slot_of(const Access& access) const;
    [[nodiscard]] std::optional<UpcomingAccess> upcoming(const Entry& entry, std::size_t when) const;
    [[nodiscard]] bool is_reachable(std::size_t when) const;
    [[nodiscard]] bool confirms_jump(std::size_t when);
    [[nodiscard]] bool owns(const Region& region) const {
        return region.ordinal < regions_.size() && regions_[region.ordinal] == &region;
    }
    /// Whether what lies at an address is among so many touches before now.
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
    std::size_t count_ = 0;           ///< Touches.
    std::size_t position_ = 0;        ///< Those before this one have been.
    std::size_t lookahead_bytes_ = 0; ///< Of those between.
    std::size_t lookahead_ = 0;       ///< Those before this one were looked at.
    std::size_t unmatched_ = 0;       ///< Touches in a row that were not found where they were expected.
    std::size_t last_jump_ = 0;       ///< Where the last of them is found,
    unsigned consistent_jumps_ = 0;   ///< and so many of the last ones near it.
    bool diverged_ = false;
    std::size_t recent_bytes_ = 0;
    Table<std::uint32_t> accesses_;    ///< Of each touch.
    Table<std::uint32_t> next_access_; ///< When it is touched again, of each touch; from `count_` on: never.
    Table<Entry> entries_;
    Table<std::uint32_t> slots_;           ///< Of items by what they are, and one more; 0: none.
    OrderedBitset resident_next_uses_;     ///< The next times of all that are in memory.
    Table<std::uint64_t> expected_chunks_; ///< Chunks of the regions of the trace.
    Table<Region*> regions_;               ///< As they come to be.
};

} // namespace assay::tier
