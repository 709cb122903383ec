#pragma once

#include "tier/memory/chunk_cache.hpp"
#include "tier/memory/region_index.hpp"
#include "tier/policy/stream_detector.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Brings what will be touched soon: what comes next in the runs that touches are of, and what somebody has
/// told of.
class StreamPrefetcher {
  public:
    /// \throws std::bad_alloc.
    explicit StreamPrefetcher(ChunkCache& memory);

    /// All that depends on how much memory there may be.
    void resize();

    /// The run that a touch of a chunk belongs to, or null.
    [[nodiscard]] const StreamDetector::Stream* stream_of(Region& region, const Chunk& chunk,
                                                          std::uint32_t thread);
    /// \param node that what is brought is wanted on; likewise below.
    void prefetch_along(Region& region, const StreamDetector::Stream& stream, Node node);
    /// So many bytes within a chunk will be touched.
    void request(std::byte* at, std::size_t bytes, Node node);
    /// Brings what there was no room for, where there may be now.
    void resume();
    void prefetch_requested(const RegionIndex& regions);
    /// A region is no more.
    void forget(const Region& region);

    enum class Prefetch { issued, resident, blocked };
    /// What will be touched, or all parts of it.
    Prefetch prefetch(Chunk& chunk, Node node);
    /// Whether as much of what is foreseen is on its way, or was brought and is not used.
    [[nodiscard]] bool is_window_full() const { return bytes() >= window_ + 2 * cache_.chunk_bytes(); }

  private:
    /// Chunks of a window.
    [[nodiscard]] std::uint32_t max_window(std::size_t step) const;
    /// Chunks that each of the runs that take turns may have ahead: what one brings beyond that, another one
    /// gives up before it is used.
    [[nodiscard]] std::uint32_t stream_share(std::size_t step) const;
    /// Whether the last two touches were of this run.
    [[nodiscard]] bool is_sole_stream(const StreamDetector::Stream& stream) const;
    [[nodiscard]] bool is_limit_reached() const { return bytes() >= max_bytes_; }
    [[nodiscard]] std::size_t bytes() const {
        return cache_.policy().prefetched_bytes() + cache_.transfers().prefetch_bytes();
    }

    ChunkCache& cache_;
    std::size_t max_bytes_ = 0; ///< Bytes that may be brought ahead.
    std::size_t window_ = 0;    ///< Bytes that may be brought ahead of one run.
    /// What of a chunk will be touched soon, as somebody said.
    struct Request {
        std::byte* at = nullptr;
        std::size_t bytes = 0;
        Node node{};
    };
    /// The chunks that hold it, of the size that is wanted now.
    Prefetch prefetch(Region& region, const Request& request);
    /// One of several, of which those that hold nothing are passed over. \param all what became of them so
    ///     far. \returns false where the others need not be tried.
    [[nodiscard]] bool prefetch_part(Chunk& chunk, Node node, Prefetch& all);
    Table<Request> requests_;
    /// What would be read ahead, had there been room.
    struct Interrupted {
        Region* region = nullptr;
        const StreamDetector::Stream* stream = nullptr;
        std::size_t level = 0; ///< Of its chunks.
        Node node{};
    };
    Interrupted interrupted_;
    std::array<const StreamDetector::Stream*, 32>
        latest_streams_{}; ///< The runs of the last touches; only compared.
    std::size_t faults_ = 0;
};

} // namespace assay::tier
