#pragma once

#include "tier/base/adaptive_spin.hpp"
#include "tier/base/thread_waker.hpp"
#include "tier/base/work_queue.hpp"
#include "tier/memory/chunk_cache.hpp"
#include "tier/memory/region.hpp"
#include "tier/memory/region_index.hpp"
#include "tier/pager/pager_config.hpp"
#include "tier/policy/stream_prefetcher.hpp"
#include "tier/policy/trace_prefetcher.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::tier {

/// Implementation of the pager; runs entirely on the thread that created it.
///
/// It waits for page faults, completed transfers, and work of program threads.
class PagerEngine {
  public:
    /// Work of program threads, and the means to wake the engine.
    struct Callers {
        WorkQueue& work;
        const ThreadWaker& waker;
    };

    /// \throws std::runtime_error, std::system_error naming the missing capability of this machine.
    PagerEngine(const PagerConfig& config, Callers callers);
    PagerEngine(const PagerEngine&) = delete;
    PagerEngine& operator=(const PagerEngine&) = delete;
    /// Complete transfers in flight. All regions must have been removed: later accesses would read zeros.
    ~PagerEngine();

    /// Serve until `stop` is called.
    void work();
    void stop() { stop_ = true; }

    /// Range within a chunk.
    struct ByteRange {
        std::byte* at;
        std::size_t bytes;
    };
    /// Result of `add`: the region as in Pager, or null and an error number.
    struct AddResult {
        Region* region;
        int error;
    };
    [[nodiscard]] AddResult add(std::byte* at, std::size_t bytes);
    void remove(Region& region);
    [[nodiscard]] bool discard(std::byte* at);
    void forget(std::byte* at);
    void advise(Region& region, AccessPattern pattern);
    void evict(std::byte* at);
    void prefetch(std::span<const ByteRange> ranges, Node node);

    [[nodiscard]] Counts counts() const { return meter_.counts(); }
    /// Return the preferred node of the calling thread; any thread may call this.
    [[nodiscard]] Node preferred_node_here() { return cache_.placement().preferred_node_here(); }

  private:
    /// Handle all pending events once. \returns true if there were any.
    bool serve();
    bool handle_messages();
    bool complete_transfers();
    /// Reclaim memory beyond the fair share for other members of the budget.
    void share_budget();
    /// Recompute all limits that depend on the memory capacity.
    void resize(std::size_t max);

    void fault(std::byte* at, std::uint32_t thread, bool writes);
    static void count(const Chunk& chunk);
    void on_unmapped(std::byte* from, std::byte* to);
    void on_unmapped(Chunk& chunk, const std::byte* from, const std::byte* to);
    void free_if_idle(Region& region);

    Callers callers_;
    ChunkCache cache_;
    StreamPrefetcher prefetcher_;
    TracePrefetcher trace_prefetcher_;
    Budget* budget_;
    Meter meter_;
    MetadataBudget metadata_;
    RegionIndex regions_;
    AdaptiveSpin spin_;
    Node last_fault_node_{}; ///< Node of the last faulting thread.
    bool stop_ = false;
    bool warn_about_copy_; ///< A warning about MapMethod::copy is due.
};

} // namespace assay::tier
