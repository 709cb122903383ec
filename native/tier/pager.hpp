#pragma once

#include "tier/awake.hpp"
#include "tier/event.hpp"
#include "tier/foresight.hpp"
#include "tier/look_ahead.hpp"
#include "tier/means.hpp"
#include "tier/memory.hpp"
#include "tier/region.hpp"
#include "tier/regions.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

namespace assay::tier {

/// Regions larger than memory: chunks are brought from storage when they are touched, or before, and taken
/// away when their memory is needed.
///
/// One thread does all of it, under one lock that nobody holds who touches a region. It waits for the
/// kernel's word of faults, for transfers, and for requests.
class Pager {
  public:
    /// \throws std::runtime_error, std::system_error, naming what this machine does not give.
    explicit Pager(const Means& means);
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

    /// The content of the chunk at an address is not needed any more: it is zeros from now on.
    ///
    /// \returns false where its pages are in use, or not alike; then nothing is changed.
    [[nodiscard]] bool discard(std::byte* at);
    /// Nothing of the chunk at an address is mapped any more.
    void forget(std::byte* at);
    /// How it will be touched from now on.
    void order(Region& region, Order order);
    /// The chunk at an address keeps its content, and will not be touched soon.
    void done(std::byte* at);
    /// So many bytes within a chunk will be touched soon.
    void expect(std::byte* at, std::size_t bytes);

    /// Of all regions there are and were.
    [[nodiscard]] Counts counts();
    [[nodiscard]] std::size_t chunk() const { return memory_.chunk(); }

  private:
    void work();
    /// One look at all that may have happened. \returns whether anything had.
    bool serve();
    bool take_messages();
    bool take_transfers();
    /// Others of the budget have what they want, as far as it is their share.
    void share();
    /// All that depends on how much memory there may be.
    void fit(std::size_t most);

    void fault(std::byte* at, std::uint32_t thread, bool writes);
    static void count(const Chunk& chunk);
    void unmapped(std::byte* from, std::byte* to);
    void unmapped(Chunk& chunk, const std::byte* from, const std::byte* to);
    [[nodiscard]] bool try_discard(std::byte* at);
    void free_where_idle(Region& region);

    Memory memory_;
    LookAhead ahead_;
    Foresight foresight_;
    Budget* budget_;
    Meter meter_;
    Records records_;
    Regions regions_;
    Awake awake_;
    Node newest_node_{}; ///< Of the thread that touched last.
    Event wake_;
    std::mutex lock_;
    bool over_ = false;
    bool copies_unasked_; ///< And nobody was told yet.
    std::thread thread_;
};

} // namespace assay::tier
