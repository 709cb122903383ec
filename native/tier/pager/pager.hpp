#pragma once

#include "tier/base/work_queue.hpp"
#include "tier/pager/pager_config.hpp"
#include "tier/pager/pager_engine.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <span>
#include <thread>

namespace assay::tier {

/// Pager for regions larger than memory: fetches chunks from storage at page faults or in advance, and evicts
/// them to free memory.
///
/// One thread does all of the work (PagerEngine). Its private descriptor table protects the pager's
/// descriptors from the program. The functions here run on that thread, and their callers wait.
class Pager {
  public:
    /// \throws std::runtime_error, std::system_error naming the missing capability of this machine.
    explicit Pager(const PagerConfig& config);
    Pager(const Pager&) = delete;
    Pager& operator=(const Pager&) = delete;
    /// All regions must have been removed: later accesses would read zeros.
    ~Pager();

    /// Manage a range of anonymous memory.
    ///
    /// \param at untouched, aligned to a chunk. \param bytes a multiple of a chunk.
    /// \returns null with errno: ENOSPC if the paths lack free space, ENOMEM.
    Region* add(std::byte* at, std::size_t bytes);
    /// Remove a region that is about to be unmapped and no longer accessed.
    void remove(Region& region);

    /// Discard the content of consecutive chunks: they read as zeros afterwards.
    ///
    /// \returns the number of chunks discarded, limited by the batch size and by the first chunk whose pages
    ///     are in use or cannot be moved.
    [[nodiscard]] std::size_t discard(std::byte* at, std::size_t chunks = 1);
    /// Forget the chunk at an address whose pages are all unmapped.
    void forget(std::byte* at);
    /// Set the access pattern of a region.
    void advise(Region& region, AccessPattern pattern);
    /// Evict consecutive chunks; their content is kept.
    void evict(std::byte* at, std::size_t chunks = 1);
    /// Prefetch ranges, each of them within a chunk.
    void prefetch(std::span<const PagerEngine::ByteRange> ranges);

    /// Return the counters of all regions, including removed ones.
    [[nodiscard]] Counts counts();
    [[nodiscard]] std::size_t chunk() const { return chunk_; }
    /// Return the number of the thread that owns the descriptors.
    [[nodiscard]] int thread() const { return thread_handle_.thread; }

  private:
    /// Chunks per request of a caller, to bound the delay of faults.
    static constexpr std::size_t max_batch = 16;

    /// Run the pager thread. \param config valid until `started_` is set.
    void run_thread(const PagerConfig& config);
    /// Execute work on the pager thread.
    template <class Work>
    void run_on_thread(Work work) {
        work_.run([this, &work] { work(*engine_); }, [this] { thread_handle_.wake(); });
    }

    std::size_t chunk_;
    WorkQueue work_;
    ThreadWaker::Target thread_handle_;
    PagerEngine* engine_ = nullptr;
    std::exception_ptr start_error_;
    std::atomic<int> started_ = 0; ///< Also set after a failure.
    std::thread thread_;
};

} // namespace assay::tier
