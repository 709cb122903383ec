#pragma once

#include "tier/memory/chunk_cache.hpp"
#include "tier/policy/access_trace.hpp"
#include "tier/policy/next_use.hpp"
#include "tier/policy/stream_prefetcher.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace assay::tier {

/// Records a trace of this run, and prefetches by the trace of an earlier one.
class TracePrefetcher {
  public:
    /// \param config names the trace directories, if any.
    TracePrefetcher(const PagerConfig& config, ChunkCache& cache, StreamPrefetcher& prefetcher);

    /// Return true while a trace is followed.
    [[nodiscard]] bool is_active() const { return next_use_.has_value(); }
    /// Return the memory in use.
    [[nodiscard]] std::size_t bytes() const { return next_use_ ? next_use_->bytes() : 0; }

    void region_added(Region& region);
    void region_removed(const Region& region);

    /// Return the level of the next access at an address, if known.
    [[nodiscard]] std::optional<std::size_t> level_at(const Region& region, const std::byte* at) const;
    /// Record a fault. \param at faulting address. \returns true if the trace predicted it.
    bool on_access(const Region& region, const Chunk& chunk, const std::byte* at);
    /// Reassemble a chunk that the trace accesses as a whole: map its resident parts, and merge it with the
    /// missing ones.
    void reassemble(Chunk& whole);
    /// Prefetch the next accesses of the trace, as long as only chunks with a later use are evicted.
    ///
    /// \param node preferred NUMA node; the threads of the accesses are not known.
    void prefetch(Node node);

  private:
    /// Start with the first region: processes without regions are not numbered.
    void start();
    void record(std::size_t number);
    void replay(std::size_t number);
    void stop();
    /// Free memory, evicting only chunks with a later next use.
    [[nodiscard]] bool reclaim_until(std::size_t when, std::size_t bytes);

    ChunkCache& cache_;
    StreamPrefetcher& prefetcher_;
    Budget* budget_;
    std::string trace_folder_, replay_folder_;
    bool started_ = false;
    std::uint32_t region_count_ = 0;
    std::optional<TraceRecorder> recorder_;
    std::optional<NextUse> next_use_;
};

} // namespace assay::tier
