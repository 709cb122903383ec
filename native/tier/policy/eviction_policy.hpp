#pragma once

#include "tier/memory/chunk.hpp"
#include "tier/policy/next_use.hpp"

namespace assay::tier {

/// Chooses the next chunk to evict.
///
/// The basic policy is FIFO with a second chance (CLOCK): a victim is first unmapped and kept for a while,
/// and an access in that time maps it again without a transfer. The kernel does not report accesses to mapped
/// pages.
///
/// If most mapped chunks are refetches, memory does not hold the working set, and FIFO would evict each chunk
/// just before its next use. The policy then becomes scan-resistant. Resident chunks stay in the main list,
/// and new chunks pass through a small probation list (S3-FIFO: J. Yang et al., FIFO queues are all you need
/// for cache eviction, 2023). A refetched chunk enters the main list if its refetch distance is shorter than
/// the age of a chunk there (LIRS: S. Jiang and X. Zhang, 2002). In a sweep all distances are equal, so the
/// main list stays. Unused chunks give way to used ones, and frequently used blocks remain.
///
/// To learn about the use of the main list, chunks are sampled: unmapped some time before their expected use.
/// A chunk in constant use would fault at each sample. A hit therefore exempts the chunk from its next turns,
/// and consecutive hits exempt it from more of them.
class EvictionPolicy {
  public:
    /// \param max memory capacity in bytes. \param chunk size of the largest chunks in bytes.
    EvictionPolicy(std::size_t max, std::size_t chunk) : chunk_(chunk) { resize(max); }
    /// Set the memory capacity.
    void resize(std::size_t max);

    /// Follow a trace until called with null: the chunk with the farthest next use is evicted first.
    ///
    /// \param newest bytes mapped last, which remain, because a trace omits repeated accesses to them.
    void follow_trace(NextUse* next_use, std::size_t newest);

    /// Return the level of the chunk that a part will be merged into, or its own level.
    [[nodiscard]] std::size_t merge_level(const Chunk& part) const {
        return next_use_ == nullptr ? part.region->fetch_level() : next_use_->merge_level(part);
    }
    /// Return true if a trace predicts the next access of a chunk, and its fault is not needed to locate the
    /// program.
    [[nodiscard]] bool is_position_known(const Chunk& chunk) const {
        return next_use_ != nullptr && !next_use_->reveals_position(chunk);
    }
    /// Adapt to an access that the trace did not predict: perhaps the chunk was evicted too early.
    void on_unpredicted_access();

    /// Return the bytes mapped during the stay of a new chunk; fewer in scan-resistant mode, with its short
    /// probation list.
    [[nodiscard]] std::size_t lifetime_bytes() const { return scan_resistant_ ? max_ / 4 : max_ / 2; }

    /// Enter a mapped chunk. \param refetched whether it was evicted before and had to be read.
    void on_mapped(Chunk& chunk, bool refetched);
    /// Return true for an unmapped chunk that is kept for a second chance or as a sample.
    [[nodiscard]] static bool is_second_chance(const Chunk& chunk) {
        return chunk.list == Chunk::List::second_chance || chunk.list == Chunk::List::sampled;
    }
    /// Enter a chunk that was accessed while unmapped.
    void on_second_chance_hit(Chunk& chunk);
    /// Enter a chunk whose parts were merged.
    void on_merged(Chunk& chunk);
    /// Enter a prefetched chunk.
    void on_prefetched(Chunk& chunk) { enter(chunk, Chunk::List::prefetched); }
    /// Enter an unmapped chunk for its second chance.
    void on_unmapped(Chunk& chunk);
    /// Enter a chunk that was unmapped as a sample.
    void on_sampled(Chunk& chunk) { enter(chunk, Chunk::List::sampled); }
    /// Remove a chunk that is no longer resident.
    void on_removed(Chunk& chunk);
    /// Enter a chunk that cannot be unmapped, because the program has unmapped or protected parts of it. That
    /// may change.
    void pin(Chunk& chunk);
    /// Return the pinned chunk that was tried longest ago; null if there is none.
    [[nodiscard]] Chunk* next_pinned() const { return pinned_.front(); }
    /// Move a chunk that is busy to the end of its list.
    void postpone(Chunk& chunk);

    /// Return a mapped chunk to unmap; null if there is none.
    [[nodiscard]] Chunk* next_to_unmap();
    /// Return a mapped chunk to unmap as a sample; null if there is none.
    [[nodiscard]] Chunk* next_to_sample();
    /// Return the mapped chunk that was mapped longest ago; null if there is none.
    [[nodiscard]] Chunk* oldest_mapped() const;
    /// Return an unmapped chunk beyond the limit of second chances; null if there is none.
    [[nodiscard]] Chunk* next_to_evict() const;
    /// Return any unmapped chunk, if no other victim is left.
    [[nodiscard]] Chunk* last_resort() const;
    /// Return the oldest prefetched and unused chunk.
    [[nodiscard]] Chunk* oldest_prefetched() const { return prefetched_.front(); }

    /// Return the mapped bytes.
    [[nodiscard]] std::size_t mapped_bytes() const { return main_.bytes() + probation_.bytes(); }
    /// Return the bytes mapped since the beginning.
    [[nodiscard]] std::size_t mapped_total_bytes() const { return mapped_total_; }
    /// Return the bytes of prefetched and unused chunks.
    [[nodiscard]] std::size_t prefetched_bytes() const { return prefetched_.bytes(); }

  private:
    void enter(Chunk& chunk, Chunk::List list);
    void skip(Chunk& chunk);
    void unlink(Chunk& chunk);
    [[nodiscard]] Chunk* farthest_use() const;
    void on_mapped_with_trace(Chunk& chunk);
    Queue& queue(Chunk::List list);
    void update_averages(const Chunk& chunk, bool refetched);
    void grow_probation(const Chunk& chunk);
    [[nodiscard]] std::size_t max_extra_probation() const;
    void set_scan_resistant(bool scan_resistant);
    void resize_lists();
    void end_sampling();
    /// Return the size of the probation list, in bytes.
    [[nodiscard]] std::size_t probation_limit() const { return min_probation_ + extra_probation_; }
    /// Return true if the probation list exceeds its size.
    [[nodiscard]] bool is_probation_overfull() const {
        return probation_.bytes() > probation_limit() + min_probation_ / 4;
    }
    /// Free a place in the main list for a chunk with a refetch distance in bytes.
    [[nodiscard]] bool displaces_older(std::size_t distance);
    void stamp(Chunk& chunk) const {
        chunk.mapped_at = static_cast<std::uint32_t>(mapped_total_ / clock_unit);
    }
    /// Return the bytes mapped since the last known access to a chunk.
    [[nodiscard]] std::size_t age(const Chunk& chunk) const {
        return (static_cast<std::uint32_t>(mapped_total_ / clock_unit) - chunk.mapped_at) * clock_unit;
    }

    /// Unit of `mapped_at`, in bytes mapped.
    static constexpr std::size_t clock_unit = std::size_t{4} << 10U;

    std::size_t chunk_, max_ = 0, min_probation_ = 0, second_chance_limit_ = 0; ///< In bytes.
    /// Bytes added to the probation list, because its chunks are accessed again soon.
    std::size_t extra_probation_ = 0;
    Queue main_, probation_, second_chance_, sampled_, prefetched_, pinned_;
    bool scan_resistant_ = false;
    double refetch_share_ = 0.0;    ///< Share of refetches among recently mapped bytes.
    double refetch_distance_ = 0.0; ///< Average bytes mapped between two fetches of a chunk.
    std::size_t mapped_total_ = 0;  ///< Bytes mapped since the beginning.
    NextUse* next_use_ = nullptr;
    std::size_t recent_bytes_ = 0; ///< Bytes mapped last, not evicted whatever the trace predicts.
};

} // namespace assay::tier
