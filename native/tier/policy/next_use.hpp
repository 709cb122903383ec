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
class Future {
  public:
    /// \param sizes of chunks. \throws std::bad_alloc.
    Future(const Trace& trace, const Sizes& sizes);

    /// Something is still to come.
    [[nodiscard]] bool is_known() const { return now_ < count_ && !lost_; }
    /// The program does something else.
    [[nodiscard]] bool is_lost() const { return lost_; }
    /// Bytes that came last, among which a touch says nothing.
    [[nodiscard]] std::size_t newest_bytes() const { return newest_; }
    /// Of memory that it takes.
    [[nodiscard]] std::size_t bytes() const;

    void began(Region& region);
    void ended(const Region& region);

    /// A thread touched what was not mapped. \returns false where it is not found in the trace.
    bool touched(const Region& region, const std::byte* at);
    /// The size of which what lies at an address is touched next, where that is known.
    [[nodiscard]] std::optional<std::size_t> level_at(const Region& region, const std::byte* at) const;
    /// What is touched next as a whole is in parts, some of them in memory: the others come.
    void gather(const Chunk& whole);
    /// The size of what a part is to be one with, or its own.
    [[nodiscard]] std::size_t whole_at(const Chunk& part) const;
    /// Whether the next touch of a chunk is one by which it shows where the program is. Others need not tell,
    /// nor parts of what is to be one.
    [[nodiscard]] bool tells(const Chunk& chunk) const;
    /// A chunk is in memory. \param mapped its next touch does not tell.
    void came(const Chunk& chunk, bool mapped);
    /// Parts that were mapped are one: they are passed over without a word.
    void merged(const Chunk& whole);
    /// It is mapped, and not to be the last one of `last`, until it is said to have come again.
    void stays(const Chunk& chunk);
    void left(const Chunk& chunk);

    /// A chunk that will be touched. What is not needed any more has a time too, later than all others.
    struct Coming {
        Region* region;
        std::byte* at;
        std::size_t level;
        std::size_t when;
    };
    /// The one after that which was passed last, or after the last touch.
    ///
    /// \param most bytes of all that are touched until then: what is in memory now may be gone by later
    /// times.
    [[nodiscard]] std::optional<Coming> next(std::size_t most);
    /// What was next is part of a chunk that is in memory.
    void covered_by(const Chunk& chunk);
    void pass() { ahead_bytes_ += bytes_at(ahead_++); }
    /// Of all that are in memory, the one that is touched last.
    [[nodiscard]] std::optional<Coming> last() const;

  private:
    /// What is known of a chunk that the trace names.
    enum class Where : std::uint8_t { storage, unmapped, mapped };
    struct Item {
        Touch touch;
        std::uint32_t next; ///< When it is touched next.
        Where where;
        bool gathers; ///< Its parts come, to be one.
        bool covers;  ///< Its parts are touched too, and were passed for it is in memory.
        bool passed;  ///< Touches of others that come later in the trace were seen before its own.
    };

    [[nodiscard]] const Item* find(const Touch& touch) const;
    [[nodiscard]] const Item* soonest_at(const Region& region, const std::byte* at) const;
    [[nodiscard]] const Item* item_of(const Chunk& chunk) const;
    [[nodiscard]] Item* item_of(const Chunk& chunk) {
        return const_cast<Item*>(std::as_const(*this).item_of(chunk)); // NOLINT: it is ours
    }
    /// The level of what comes in parts to be one; none for a part that is touched by itself before that.
    [[nodiscard]] std::optional<std::size_t> gathered_at(const Region& region, const std::byte* at) const;
    [[nodiscard]] std::size_t slot_of(const Touch& touch) const;
    [[nodiscard]] std::optional<Coming> coming(const Item& item, std::size_t when) const;
    [[nodiscard]] bool is_near(std::size_t when) const;
    [[nodiscard]] bool is_there(std::size_t when);
    [[nodiscard]] bool has(const Region& region) const {
        return region.ordinal < regions_.size() && regions_[region.ordinal] == &region;
    }
    /// Whether what lies at an address is among so many touches before now.
    [[nodiscard]] bool was_within(std::size_t last, const Region& region, const std::byte* at) const;
    [[nodiscard]] bool stray();
    void go_to(std::size_t when);
    [[nodiscard]] Item& item_at(std::size_t when) {
        return items_[when < count_ ? touched_[when] : when - count_];
    }
    [[nodiscard]] std::size_t bytes_at(std::size_t when) const { return sizes_[item_at(when).touch.level]; }
    [[nodiscard]] const Item& item_at(std::size_t when) const {
        return items_[when < count_ ? touched_[when] : when - count_];
    }

    Sizes sizes_;
    std::size_t count_ = 0;       ///< Touches.
    std::size_t now_ = 0;         ///< Those before this one have been.
    std::size_t ahead_bytes_ = 0; ///< Of those between.
    std::size_t ahead_ = 0;       ///< Those before this one were looked at.
    std::size_t strays_ = 0;      ///< Touches in a row that were not found where they were expected.
    std::size_t elsewhere_ = 0;   ///< Where the last of them is found,
    unsigned together_ = 0;       ///< and so many of the last ones near it.
    bool lost_ = false;
    std::size_t newest_ = 0;
    Table<std::uint32_t> touched_; ///< Of each touch.
    Table<std::uint32_t> then_;    ///< When it is touched again, of each touch; from `count_` on: never.
    Table<Item> items_;
    Table<std::uint32_t> slots_;    ///< Of items by what they are, and one more; 0: none.
    Marks marks_;                   ///< The next times of all that are in memory.
    Table<std::uint64_t> expected_; ///< Chunks of the regions of the trace.
    Table<Region*> regions_;        ///< As they come to be.
};

} // namespace assay::tier
