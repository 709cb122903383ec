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

/// Regions larger than memory: chunks are brought from storage when they are touched, or before, and taken
/// away when their memory is needed.
///
/// One thread does all of it (PagerEngine), with a descriptor table of its own: whichever descriptors the
/// program closes, in whichever way, they are not the pager's. That thread does the work of the functions
/// here, and their callers wait for it.
class Pager {
  public:
    /// \throws std::runtime_error, std::system_error, naming what this machine does not give.
    explicit Pager(const PagerConfig& config);
    Pager(const Pager&) = delete;
    Pager& operator=(const Pager&) = delete;
    /// Regions must be gone: what touches them later finds zeros.
    ~Pager();

    /// Answers for anonymous memory from now on.
    ///
    /// \param at a multiple of a chunk, never touched. \param bytes a multiple of a chunk.
    /// \returns null with errno: ENOSPC where the paths have no room, ENOMEM.
    Region* add(std::byte* at, std::size_t bytes);
    /// Forgets a region that is about to be unmapped; nobody touches it any more.
    void remove(Region& region);

    /// The content of chunks in a row, from an address on, is not needed any more: it is zeros from now on.
    ///
    /// \returns how many of them, up to the first whose pages are in use, or not alike, of which nothing is
    ///     changed; or to as many as are done at a time.
    [[nodiscard]] std::size_t discard(std::byte* at, std::size_t chunks = 1);
    /// Nothing of the chunk at an address is mapped any more.
    void forget(std::byte* at);
    /// How it will be touched from now on.
    void advise(Region& region, AccessPattern pattern);
    /// Chunks in a row, from an address on, keep their content, and will not be touched soon.
    void evict(std::byte* at, std::size_t chunks = 1);
    /// Bytes within a chunk each will be touched soon.
    void prefetch(std::span<const PagerEngine::ByteRange> ranges);

    /// Of all regions there are and were.
    [[nodiscard]] Counts counts();
    [[nodiscard]] std::size_t chunk() const { return chunk_; }
    /// Number of the thread that has the descriptors.
    [[nodiscard]] int thread() const { return thread_handle_.thread; }

  private:
    /// Done at a time for one caller: faults wait meanwhile.
    static constexpr std::size_t max_batch = 16;

    /// Run the thread of the pager. \param means valid until `begun_` is set.
    void run_thread(const PagerConfig& config);
    /// Has the thread do something with its engine.
    template <class Work>
    void run_on_thread(Work work) {
        work_.run([this, &work] { work(*engine_); }, [this] { thread_handle_.wake(); });
    }

    std::size_t chunk_;
    WorkQueue work_;
    ThreadWaker::Target thread_handle_;
    PagerEngine* engine_ = nullptr;
    std::exception_ptr start_error_;
    std::atomic<int> started_ = 0; ///< Or could not.
    std::thread thread_;
};

} // namespace assay::tier
