#pragma once

#include "tier/memory/chunk.hpp"
#include "tier/policy/next_use.hpp"

namespace assay::tier {

/// Which mapped chunk is to be taken away next.
///
/// The order in which they came, with a second chance: what is taken away is first unmapped and kept for a
/// while, and a touch in that time brings it back without any transfer (CLOCK; what a touch of a mapped chunk
/// would tell, the kernel does not). Where most of what comes was there before, memory does not hold what is
/// gone through, and by that order everything would be gone just before its turn. Then what is there stays,
/// and what comes passes through a small part of memory (the small queue of S3-FIFO: J. Yang et al., FIFO
/// queues are all you need for cache eviction, 2023), unless it comes again sooner than something that stays
/// has been used (S. Jiang and X. Zhang, LIRS, 2002): of a sweep all come again as late, and so what stays
/// does; what is not used any more makes room for what is, and blocks that are used over and over stay.
///
/// To know when what stays was used it is unmapped some time before it would be used again, and watched. What
/// is used all the time would be unmapped over and over, and each touch that tells so is a fault. So what
/// told it is passed over once when its turn comes, and the more often it did in a row, the more often.
class EvictionPolicy {
  public:
    /// \param most bytes that memory has room for. \param chunk bytes of the largest chunks.
    EvictionPolicy(std::size_t max, std::size_t chunk) : chunk_(chunk) { resize(max); }
    /// Memory has room for so many bytes from now on.
    void resize(std::size_t max);

    /// What will be touched is known, until it is null again: then what is touched last is taken away first.
    ///
    /// \param newest bytes that came last, and stay: when they are touched soon again, that is not known.
    void follow_trace(NextUse* next_use, std::size_t newest);

    /// The size of what a chunk is to be one with, or its own.
    [[nodiscard]] std::size_t whole_at(const Chunk& part) const {
        return next_use_ == nullptr ? part.region->fetch_level() : next_use_->whole_at(part);
    }
    /// Whether a chunk is foreseen, and its next touch is none by which it shows where the program is.
    [[nodiscard]] bool is_position_known(const Chunk& chunk) const {
        return next_use_ != nullptr && !next_use_->reveals_position(chunk);
    }
    /// Something was touched that was not foreseen: perhaps it was taken away too early.
    void on_unpredicted_access();

    /// Bytes that come while one that comes is there: fewer where most of what is there stays, and the rest
    /// passes by.
    [[nodiscard]] std::size_t lifetime_bytes() const { return scan_resistant_ ? max_ / 4 : max_ / 2; }

    /// A chunk was mapped. \param again whether it was taken away before, and had to be read.
    void on_mapped(Chunk& chunk, bool refetched);
    /// Whether a chunk is there, and only unmapped.
    [[nodiscard]] static bool is_second_chance(const Chunk& chunk) {
        return chunk.list == Chunk::List::second_chance || chunk.list == Chunk::List::sampled;
    }
    /// A chunk was touched while it was only unmapped.
    void on_second_chance_hit(Chunk& chunk);
    /// It was mapped in parts.
    void on_merged(Chunk& chunk);
    /// It was brought before anybody asked.
    void on_prefetched(Chunk& chunk) { enter(chunk, Chunk::List::prefetched); }
    /// It was unmapped, and is kept for a while.
    void on_unmapped(Chunk& chunk);
    /// It was unmapped to see whether it is used.
    void on_sampled(Chunk& chunk) { enter(chunk, Chunk::List::sampled); }
    /// It is gone.
    void on_removed(Chunk& chunk);
    /// It cannot be taken away: parts of it are unmapped or protected, which the program may change.
    void pin(Chunk& chunk);
    /// The one of those that was tried longest ago, or null.
    [[nodiscard]] Chunk* next_pinned() const { return pinned_.front(); }
    /// It cannot be unmapped just now: others first.
    void postpone(Chunk& chunk);

    /// A mapped one to be unmapped, or null.
    [[nodiscard]] Chunk* next_to_unmap();
    /// A mapped one to be unmapped so that it can be watched, or null.
    [[nodiscard]] Chunk* next_to_sample();
    /// The mapped one that came longest ago, or null.
    [[nodiscard]] Chunk* oldest_mapped() const;
    /// One that was unmapped and not touched since, where there are more of them than are to be kept; or
    /// null.
    [[nodiscard]] Chunk* next_to_evict() const;
    /// The same, where nothing else is left.
    [[nodiscard]] Chunk* last_resort() const;
    /// The one that was brought ahead longest ago, and is not used yet.
    [[nodiscard]] Chunk* oldest_prefetched() const { return prefetched_.front(); }

    /// Bytes that are mapped.
    [[nodiscard]] std::size_t mapped_bytes() const { return main_.bytes() + probation_.bytes(); }
    /// Bytes that were mapped, ever.
    [[nodiscard]] std::size_t mapped_total_bytes() const { return mapped_total_; }
    /// Bytes that were brought before anybody asked.
    [[nodiscard]] std::size_t prefetched_bytes() const { return prefetched_.bytes(); }

  private:
    void enter(Chunk& chunk, Chunk::List list);
    void skip(Chunk& chunk);
    void unlink(Chunk& chunk);
    [[nodiscard]] Chunk* farthest_use() const;
    void on_mapped_with_trace(Chunk& chunk);
    Queue& queue(Chunk::List list);
    void judge(const Chunk& chunk, bool refetched);
    void grow_probation(const Chunk& chunk);
    [[nodiscard]] std::size_t max_extra_probation() const;
    void set_scan_resistant(bool scan_resistant);
    void resize_lists();
    void end_sampling();
    /// Bytes that pass through.
    [[nodiscard]] std::size_t probation_limit() const { return min_probation_ + extra_probation_; }
    /// More passes through memory than is to.
    [[nodiscard]] bool is_probation_overfull() const {
        return probation_.bytes() > probation_limit() + min_probation_ / 4;
    }
    /// For what comes again after so many bytes came.
    [[nodiscard]] bool displaces_older(std::size_t distance);
    void stamp(Chunk& chunk) const {
        chunk.mapped_at = static_cast<std::uint32_t>(mapped_total_ / clock_unit);
    }
    /// Bytes that came since a chunk was touched, as far as that is known.
    [[nodiscard]] std::size_t age(const Chunk& chunk) const {
        return (static_cast<std::uint32_t>(mapped_total_ / clock_unit) - chunk.mapped_at) * clock_unit;
    }

    static constexpr std::size_t clock_unit = std::size_t{4} << 10U; ///< Of the clock, bytes that came.

    std::size_t chunk_, max_ = 0, min_probation_ = 0, second_chance_limit_ = 0; ///< Bytes.
    /// Bytes, for what passes through is touched again on its way, or soon after.
    std::size_t extra_probation_ = 0;
    Queue main_, probation_, second_chance_, sampled_, prefetched_, pinned_;
    bool scan_resistant_ = false;
    double refetch_share_ = 0.0;    ///< Of what came last, the part that was there before.
    double refetch_distance_ = 0.0; ///< Bytes that came before that came again; an average.
    std::size_t mapped_total_ = 0;  ///< Bytes, altogether.
    NextUse* next_use_ = nullptr;
    std::size_t recent_bytes_ = 0; ///< Bytes that came last, and stay whatever their future is.
};

} // namespace assay::tier
