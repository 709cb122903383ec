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

/// Brings chunks from storage when they are touched, or before, and takes them away when their memory is
/// needed; all of it in the thread that made it.
///
/// It waits for the kernel's word of faults, for transfers, and for errands of threads of the program.
class PagerEngine {
  public:
    /// What it does for threads of the program, and how they wake it.
    struct Callers {
        WorkQueue& work;
        const ThreadWaker& waker;
    };

    /// \throws std::runtime_error, std::system_error, naming what this machine does not give.
    PagerEngine(const PagerConfig& config, Callers callers);
    PagerEngine(const PagerEngine&) = delete;
    PagerEngine& operator=(const PagerEngine&) = delete;
    /// Ends what is on its way. Regions must be gone: what touches them later finds zeros.
    ~PagerEngine();

    /// Serves until it is told to end.
    void work();
    void stop() { stop_ = true; }

    /// Bytes within a chunk.
    struct ByteRange {
        std::byte* at;
        std::size_t bytes;
    };
    /// As Pager has it, and errno.
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
    /// Where what the calling thread touches is wanted: any thread's.
    [[nodiscard]] Node preferred_node_here() { return cache_.placement().preferred_node_here(); }

  private:
    /// One look at all that may have happened. \returns whether anything had.
    bool serve();
    bool handle_messages();
    bool complete_transfers();
    /// Others of the budget have what they want, as far as it is their share.
    void share_budget();
    /// All that depends on how much memory there may be.
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
    Node last_fault_node_{}; ///< Of the thread that touched last.
    bool stop_ = false;
    bool warn_about_copy_; ///< And nobody was told yet.
};

} // namespace assay::tier
