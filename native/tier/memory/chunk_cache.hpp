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

/// What is in memory of all regions: chunks come to frames and to where the program has them, and go from
/// there when their memory is needed.
///
/// Nothing here waits. What cannot be done just now is said to be so, or tried again in `go_on`.
class ChunkCache {
  public:
    /// \throws std::runtime_error, std::system_error, naming what this machine does not give.
    explicit ChunkCache(const PagerConfig& config);

    /// Fewest chunks that there must be room for.
    static constexpr std::size_t min_chunks = 8;

    /// How chunks come to where they belong, and go from there.
    [[nodiscard]] MapMethod map_method() const { return map_method_; }
    /// Bytes of the largest chunks.
    [[nodiscard]] std::size_t chunk_bytes() const { return pool_.chunk_bytes(); }
    [[nodiscard]] const ChunkSizes& sizes() const { return pool_.sizes(); }
    /// Bytes that there may be, now and ever.
    [[nodiscard]] std::size_t max_bytes() const { return max_; }
    [[nodiscard]] std::size_t pool_bytes() const { return pool_.max_bytes(); }
    /// Bytes that are free, or about to be.
    [[nodiscard]] std::size_t free_bytes() const { return pool_.free_bytes() + transfers_.writing_bytes(); }
    /// Bytes that are kept free.
    [[nodiscard]] std::size_t reserve_bytes() const { return reserve_; }
    /// What has come so far, and how much of it is long.
    [[nodiscard]] FetchGranularity::FetchClock clock() const;

    /// So many bytes may be there from now on.
    void resize(std::size_t max);
    /// So many are for other things than chunks.
    void reserve_metadata(std::size_t bytes) { pool_.reserve_metadata(bytes); }
    /// At most so many are mapped at a time from now on, so that touches show.
    void limit_mapped(std::size_t bytes) { max_mapped_ = bytes; }
    /// Whether as many may be as there is room for.
    [[nodiscard]] bool is_mapping_unlimited() const {
        return max_mapped_ == std::numeric_limits<std::size_t>::max();
    }

    /// A thread waits for a chunk. What it needs is done now, or as soon as it may be.
    ///
    /// \param node that it is wanted on; likewise below.
    void demand(Chunk& chunk, Node node);
    /// Begins to read a chunk. \returns false where there is no frame, or no room among the transfers.
    [[nodiscard]] bool read(Chunk& chunk, Node node);
    /// Maps what is staged. \returns false where an event has to be read first.
    [[nodiscard]] bool map(Chunk& chunk);
    /// \returns false where its pages are in use, or not alike.
    [[nodiscard]] bool unmap(Chunk& chunk);
    /// It will not be touched soon.
    void evict(Chunk& chunk);
    /// Nothing of it is needed any more, and its pages are gone already, where it is mapped.
    void discard(Chunk& chunk);
    /// The same of all chunks of a region. Transfers of it may still be on their way.
    void discard(Region& region);

    enum class Reclaim { freed, pending, none };
    /// One step towards a free frame.
    Reclaim reclaim();
    /// What a chunk holds that is in a frame and not mapped goes to the store, where it is not there already.
    Reclaim evict_unmapped(Chunk& chunk);

    /// Tries again what could not be done. \returns whether there was anything.
    bool retry_deferred();
    /// Whether there still is.
    [[nodiscard]] bool is_behind() const { return !deferred_.empty() || transfers_.is_behind(); }
    /// Takes note of a transfer that has ended. \returns the region, which may have been its last; or null
    ///     where none has ended.
    [[nodiscard]] Region* complete_transfer();
    /// Makes room before it is needed, and unmaps what is too much.
    void keep_reserve();
    /// Others of the budget have what they want, as far as it is their share.
    void release_surplus(const Budget& budget);
    /// Others may have all of it that is free.
    void release_free();

    [[nodiscard]] ChunkMapper& mapper() { return mapper_; }
    [[nodiscard]] Placement& placement() { return placement_; }
    [[nodiscard]] Transfers& transfers() { return transfers_; }
    [[nodiscard]] EvictionPolicy& policy() { return policy_; }

  private:
    /// A mapped chunk comes to a frame. \returns false as `unmap`.
    [[nodiscard]] bool take_pages(Chunk& chunk);
    /// Unmaps one of those that `next` gives. \returns false where it gives none, or none of a few can be.
    template <class Next>
    [[nodiscard]] bool unmap_one(Next next);
    /// What a part that was mapped belongs to, as one again, where nothing of it is missing, and parts are
    /// not wanted: it was split to be watched, and has told all that it can.
    void merge_into_whole(const Chunk& part);
    /// Does what is next for a chunk that is waited for. \returns false where it has to be tried again.
    [[nodiscard]] bool try_serve(Chunk& chunk, Node node);
    void defer(Chunk& chunk, Node node);
    /// What is due to be written stays.
    void cancel_write(Chunk& chunk);
    void on_read(Chunk& chunk, int error);
    void on_written(Chunk& chunk, int error);
    void on_discarded(Chunk& chunk);
    /// Gives a chunk a frame. \param zero set to whether it holds zeros. \returns false where none is left.
    [[nodiscard]] bool allocate_frame(Chunk& chunk, Node node, bool& zero);
    void free_frame(Chunk& chunk);
    /// The pages of a mapped chunk are the kernel's again.
    void account_lost_pages(Chunk& chunk);

    MapMethod map_method_;
    ChunkMapper mapper_;
    Placement placement_;
    FramePool pool_;
    Transfers transfers_;
    ChunkDigests digests_;
    EvictionPolicy policy_;
    std::size_t max_ = 0, reserve_ = 0; ///< Bytes.
    std::size_t max_mapped_ = std::numeric_limits<std::size_t>::max();
    /// Waited for, and to be tried again.
    struct Deferred {
        Chunk* chunk = nullptr;
        Node node{};
    };
    Table<Deferred> deferred_;
    bool write_failed_ = false;
};

} // namespace assay::tier
