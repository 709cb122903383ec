#pragma once

#include "tier/memory/chunk_cache.hpp"
#include "tier/memory/region_index.hpp"
#include "tier/policy/stream_detector.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Prefetches chunks of detected streams, and ranges that the program requests.
class StreamPrefetcher {
  public:
    /// \throws std::bad_alloc.
    explicit StreamPrefetcher(ChunkCache& cache);

    /// Recompute the limits that depend on the memory capacity.
    void resize();

    /// Return the stream of a fault; null if there is none.
    [[nodiscard]] const StreamDetector::Stream* stream_of(Region& region, const Chunk& chunk,
                                                          std::uint32_t thread);
    /// Prefetch along a stream. \param node preferred NUMA node, here and below.
    void prefetch_along(Region& region, const StreamDetector::Stream& stream, Node node);
    /// Request a range within a chunk.
    void request(std::byte* at, std::size_t bytes, Node node);
    /// Resume a prefetch that lacked memory.
    void resume();
    void prefetch_requested(const RegionIndex& regions);
    /// Drop references to a removed region.
    void forget(const Region& region);

    enum class Prefetch { issued, resident, blocked };
    /// Prefetch a chunk or all of its parts.
    Prefetch prefetch(Chunk& chunk, Node node);
    /// Return true if a full window is in flight or prefetched and unused.
    [[nodiscard]] bool is_window_full() const { return bytes() >= window_ + 2 * cache_.chunk_bytes(); }

  private:
    /// Return the maximum window, in chunks.
    [[nodiscard]] std::uint32_t max_window(std::size_t step) const;
    /// Return the window of each stream if several alternate: a larger one would evict prefetched chunks of
    /// the others before their use.
    [[nodiscard]] std::uint32_t stream_share(std::size_t step) const;
    /// Return true if the last two faults belong to this stream.
    [[nodiscard]] bool is_sole_stream(const StreamDetector::Stream& stream) const;
    [[nodiscard]] bool is_limit_reached() const { return bytes() >= max_bytes_; }
    [[nodiscard]] std::size_t bytes() const {
        return cache_.policy().prefetched_bytes() + cache_.transfers().prefetch_bytes();
    }

    ChunkCache& cache_;
    std::size_t max_bytes_ = 0; ///< Limit of all prefetches, in bytes.
    std::size_t window_ = 0;    ///< Limit of one stream, in bytes.
    /// Requested range within a chunk.
    struct Request {
        std::byte* at = nullptr;
        std::size_t bytes = 0;
        Node node{};
    };
    /// Prefetch the chunks of a request, in the present size.
    Prefetch prefetch(Region& region, const Request& request);
    /// Prefetch one of several chunks; chunks of zeros are skipped. \param all combined result so far.
    /// \returns false if the remaining ones should not be tried.
    [[nodiscard]] bool prefetch_part(Chunk& chunk, Node node, Prefetch& all);
    Table<Request> requests_;
    /// Prefetch that was interrupted for lack of memory.
    struct Interrupted {
        Region* region = nullptr;
        const StreamDetector::Stream* stream = nullptr;
        std::size_t level = 0; ///< Level of its chunks.
        Node node{};
    };
    Interrupted interrupted_;
    std::array<const StreamDetector::Stream*, 32>
        latest_streams_{}; ///< Streams of recent faults; only compared.
    std::size_t faults_ = 0;
};

} // namespace assay::tier
