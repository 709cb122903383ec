#pragma once

#include "tier/base/table.hpp"
#include "tier/fault/chunk_mapper.hpp"
#include "tier/io/chunk_digests.hpp"
#include "tier/io/transfers.hpp"
#include "tier/memory/frame_pool.hpp"
#include "tier/memory/region.hpp"
#include "tier/numa/placement.hpp"
#include "tier/pager/pager_config.hpp"
#include "tier/policy/eviction_policy.hpp"

#include <cstddef>
#include <limits>

namespace assay::tier {

/// Cache of the resident chunks of all regions: fetches chunks into frames, maps them, and evicts them to
/// free memory.
///
/// No operation blocks. An operation that is not possible yet reports so, or is retried by `retry_deferred`.
class ChunkCache {
  public:
    /// \throws std::runtime_error, std::system_error naming the missing capability of this machine.
    explicit ChunkCache(const PagerConfig& config);

    /// Minimum capacity in chunks.
    static constexpr std::size_t min_chunks = 8;

    /// Return the method of moving pages between frames and regions.
    [[nodiscard]] MapMethod map_method() const { return map_method_; }
    /// Return the size of the largest chunks.
    [[nodiscard]] std::size_t chunk_bytes() const { return pool_.chunk_bytes(); }
    [[nodiscard]] const ChunkSizes& sizes() const { return pool_.sizes(); }
    /// Return the present and the maximum capacity, in bytes.
    [[nodiscard]] std::size_t max_bytes() const { return max_; }
    [[nodiscard]] std::size_t pool_bytes() const { return pool_.max_bytes(); }
    /// Return the bytes that are free or about to become free.
    [[nodiscard]] std::size_t free_bytes() const { return pool_.free_bytes() + transfers_.writing_bytes(); }
    /// Return the bytes to keep free in advance.
    [[nodiscard]] std::size_t reserve_bytes() const { return reserve_; }
    /// Return the clock for samples of chunk use.
    [[nodiscard]] FetchGranularity::Clock clock() const;

    /// Set the capacity.
    void resize(std::size_t max);
    /// Reserve memory for metadata.
    void reserve_metadata(std::size_t bytes) { pool_.reserve_metadata(bytes); }
    /// Limit the mapped bytes, so that accesses become visible as faults.
    void limit_mapped(std::size_t bytes) { max_mapped_ = bytes; }
    /// Return true if the mapped bytes are not limited.
    [[nodiscard]] bool is_mapping_unlimited() const {
        return max_mapped_ == std::numeric_limits<std::size_t>::max();
    }

    /// Serve a thread that waits for a chunk, now or as soon as possible.
    ///
    /// \param node preferred NUMA node, here and below.
    void demand(Chunk& chunk, Node node);
    /// Start to read a chunk. \returns false without a free frame, or if the transfer queue is full.
    [[nodiscard]] bool read(Chunk& chunk, Node node);
    /// Map an unmapped chunk. \returns false if an event has to be read first.
    [[nodiscard]] bool map(Chunk& chunk);
    /// Unmap a chunk into a frame, for a second chance. \returns false if its pages are in use or cannot be
    /// moved.
    [[nodiscard]] bool unmap(Chunk& chunk);
    /// Evict a chunk that will not be accessed soon.
    void evict(Chunk& chunk);
    /// Discard the content of a chunk. If it was mapped, its pages are already unmapped.
    void discard(Chunk& chunk);
    /// Discard all chunks of a region. Transfers may remain in flight.
    void discard(Region& region);

    enum class Reclaim { freed, pending, none };
    /// Take one step towards a free frame.
    Reclaim reclaim();
    /// Evict an unmapped chunk, writing it back unless the store is up to date.
    Reclaim evict_unmapped(Chunk& chunk);

    /// Retry deferred operations. \returns true if there were any.
    bool retry_deferred();
    /// Return true if operations are pending.
    [[nodiscard]] bool is_behind() const { return !deferred_.empty() || transfers_.is_behind(); }
    /// Handle a completed transfer. \returns its region, which may have no further transfers; null if none
    /// has completed.
    [[nodiscard]] Region* complete_transfer();
    /// Reclaim memory in advance, and enforce the limit on mapped bytes.
    void keep_reserve();
    /// Reclaim memory beyond the fair share for other members of the budget.
    void release_surplus(const Budget& budget);
    /// Return all free memory to the budget.
    void release_free();

    [[nodiscard]] ChunkMapper& mapper() { return mapper_; }
    [[nodiscard]] Placement& placement() { return placement_; }
    [[nodiscard]] Transfers& transfers() { return transfers_; }
    [[nodiscard]] EvictionPolicy& policy() { return policy_; }

  private:
    /// Move the pages of a mapped chunk to a frame. \returns the same as `unmap`.
    [[nodiscard]] bool take_pages(Chunk& chunk);
    /// Unmap one of the chunks that `next` returns. \returns false if there is none, or none of a few can be
    /// unmapped.
    template <class Next>
    [[nodiscard]] bool unmap_one(Next next);
    /// Merge the parts of a chunk that was split for sampling, once all are mapped and whole chunks are
    /// preferred.
    void merge_into_whole(const Chunk& part);
    /// Take the next step for a chunk with a waiting thread. \returns false if it has to be retried.
    [[nodiscard]] bool try_serve(Chunk& chunk, Node node);
    void defer(Chunk& chunk, Node node);
    /// Cancel a queued write-back.
    void cancel_write(Chunk& chunk);
    void on_read(Chunk& chunk, int error);
    void on_written(Chunk& chunk, int error);
    void on_discarded(Chunk& chunk);
    /// Allocate a frame. \param zero set to true if the frame contains zeros. \returns false if none is left.
    [[nodiscard]] bool allocate_frame(Chunk& chunk, Node node, bool& zero);
    void free_frame(Chunk& chunk);
    /// Account the pages of a mapped chunk that the kernel has freed.
    void account_lost_pages(Chunk& chunk);

    MapMethod map_method_;
    ChunkMapper mapper_;
    Placement placement_;
    FramePool pool_;
    Transfers transfers_;
    ChunkDigests digests_;
    EvictionPolicy policy_;
    std::size_t max_ = 0, reserve_ = 0; ///< Capacity and reserve, in bytes.
    std::size_t max_mapped_ = std::numeric_limits<std::size_t>::max();
    /// Chunk with a waiting thread whose service is retried.
    struct Deferred {
        Chunk* chunk = nullptr;
        Node node{};
    };
    Table<Deferred> deferred_;
    bool write_failed_ = false;
};

} // namespace assay::tier
