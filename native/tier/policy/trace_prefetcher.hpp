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

/// What is known of another run of the program, and what is kept of this one for the next.
class TracePrefetcher {
  public:
    /// \param means names the folders of traces, or none.
    TracePrefetcher(const PagerConfig& config, ChunkCache& cache, StreamPrefetcher& ahead);

    /// Whether it is known what will be touched.
    [[nodiscard]] bool is_active() const { return next_use_.has_value(); }
    /// Of memory that it takes.
    [[nodiscard]] std::size_t bytes() const { return next_use_ ? next_use_->bytes() : 0; }

    void region_added(Region& region);
    void region_removed(const Region& region);

    /// The size of which what lies at an address is touched next, where that is known.
    [[nodiscard]] std::optional<std::size_t> level_at(const Region& region, const std::byte* at) const;
    /// A chunk was touched. \param at where. \returns whether that is what was foreseen.
    bool on_access(const Region& region, const Chunk& chunk, const std::byte* at);
    /// Of what is touched as a whole some parts are in memory: they are mapped, and with what still comes it
    /// is one chunk again.
    void gather(Chunk& whole);
    /// What is touched next comes, as far as nothing that is touched sooner has to go for it.
    ///
    /// \param node that it is wanted on: the threads are not known.
    void prefetch(Node node);

  private:
    /// With the first region, for a process that has none is not counted.
    void start();
    void record(std::size_t number);
    void replay(std::size_t number);
    void stop();
    /// Only of what is touched later.
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
