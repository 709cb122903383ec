#pragma once

#include "tier/contents.hpp"
#include "tier/event.hpp"
#include "tier/future.hpp"
#include "tier/mapping.hpp"
#include "tier/means.hpp"
#include "tier/placement.hpp"
#include "tier/pool.hpp"
#include "tier/region.hpp"
#include "tier/residence.hpp"
#include "tier/trace.hpp"
#include "tier/transfers.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
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
    explicit Pager(const Means& means) : Pager(means, exchange_of(means)) {}
    Pager(const Pager&) = delete;
    Pager& operator=(const Pager&) = delete;
    /// Regions must be gone: what touches them later finds zeros.
    ~Pager();

    /// Fewest chunks that memory must have room for.
    static constexpr std::size_t least_chunks = 8;

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
    /// How it will be touched from now on.
    void expect(Region& region, Order order);
    /// The chunk at an address keeps its content, and will not be touched soon.
    void done(std::byte* at);
    /// The chunk at an address will be touched soon.
    void expect(std::byte* at);

    [[nodiscard]] Counts counts(const Region& region);
    [[nodiscard]] std::size_t chunk() const { return pool_.chunk(); }

  private:
    Pager(const Means& means, Exchange exchange);
    [[nodiscard]] static Exchange exchange_of(const Means& means);
    void work();
    /// One look at all that may have happened. \returns whether anything had.
    bool serve();
    bool take_messages();
    bool take_transfers();
    bool answer_starved();
    void keep_some_free();
    /// Others of the budget have what they want, as far as it is their share.
    void share();
    /// All that depends on how much memory there may be.
    void fit(std::size_t most);

    void begin_traces();
    void foresee();
    /// A program that is recorded has only little mapped at a time, so that its touches show.
    void show_touches();
    /// What is touched next comes, as far as nothing that is touched sooner has to go for it.
    void bring_foreseen();
    [[nodiscard]] bool make_room_until(std::size_t when, std::size_t bytes);
    void fault(std::byte* at, std::uint32_t thread, bool writes);
    void unmapped(std::byte* from, std::byte* to);
    void unmapped(Chunk& chunk, const std::byte* from, const std::byte* to);
    /// Does what is next for a chunk that is waited for. \returns false where it has to be tried again.
    [[nodiscard]] bool answer(Chunk& chunk, Node node);
    /// The run that a touch of a chunk belongs to, or null.
    [[nodiscard]] const Streams::Stream* run_of(Region& region, const Chunk& chunk, std::uint32_t thread);
    /// \param node that what is brought is wanted on; likewise below.
    void look_ahead(Region& region, const Streams::Stream& run, Node node);
    enum class Ahead { brought, there, no_further };
    [[nodiscard]] Ahead bring_ahead(Chunk& chunk, Node node);
    static void count(const Chunk& chunk);
    [[nodiscard]] Grain::Clock clock() const;
    void bring_expected();
    /// Whether as much as may be is on its way, or was brought and is not used.
    [[nodiscard]] bool enough_ahead() const { return bytes_ahead() >= most_ahead_; }
    [[nodiscard]] std::size_t bytes_ahead() const {
        return residence_.ahead_bytes() + transfers_.unasked_bytes();
    }
    /// Begins to read a chunk. \returns false where there is no frame, or no room among the transfers.
    [[nodiscard]] bool read(Chunk& chunk, Node node);
    /// Maps what is staged. \returns false where an event has to be read first.
    [[nodiscard]] bool map(Chunk& chunk);
    void was_read(Chunk& chunk, int error);
    void was_written(Chunk& chunk, int error);

    enum class Room { made, coming, none };
    /// One step towards a free frame.
    Room make_room();
    /// Gives a chunk a frame. \param zero set to whether it holds zeros. \returns false where none is left.
    [[nodiscard]] bool take_frame(Chunk& chunk, Node node, bool& zero);
    void give_frame(Chunk& chunk);
    /// The pages of a mapped chunk are the kernel's again.
    void pages_gone(Chunk& chunk);
    bool unmap(Chunk& chunk);
    Room leave(Chunk& chunk);
    [[nodiscard]] bool try_discard(std::byte* at);
    void let_go(Chunk& chunk);
    /// Nothing of it is needed any more, and its pages are gone already, where it is mapped.
    void forget(Chunk& chunk);
    void ended_dropped(Chunk& chunk);
    void starve(Chunk& chunk, Node node);

    [[nodiscard]] Region* region_at(const std::byte* at);
    void free_where_idle(Region& region);

    Mapping mapping_;
    Placement placement_;
    Budget* budget_;
    Pool pool_;
    Transfers transfers_;
    Contents contents_;
    Residence residence_;
    Meter meter_;
    Records records_;
    std::string trace_folder_, replay_folder_; ///< Until there is a region.
    std::optional<Recorder> recorder_;
    std::optional<Future> future_;
    std::uint32_t regions_ever_ = 0;
    std::size_t most_ = 0;       ///< Bytes that there may be in memory.
    std::size_t low_ = 0;        ///< Bytes that are kept free.
    std::size_t most_ahead_ = 0; ///< Bytes that may be brought ahead.
    std::size_t window_ = 0;     ///< Bytes that may be brought ahead of one run.
    Table<Region*> regions_;     ///< By address.
    /// Where a chunk will be touched soon, as somebody said.
    struct Expected {
        std::byte* at = nullptr;
        Node node{};
    };
    Table<Expected> expected_;
    /// Waited for, and to be tried again.
    struct Starved {
        Chunk* chunk = nullptr;
        Node node{};
    };
    Table<Starved> starved_;
    Node newest_node_{}; ///< Of the thread that touched last: of what is foreseen the threads are not known.
    /// What would be read ahead, had there been room.
    struct Unfinished {
        Region* region = nullptr;
        const Streams::Stream* run = nullptr;
        std::size_t level = 0; ///< Of its chunks.
        Node node{};
    };
    Unfinished unfinished_;
    Event wake_;
    std::mutex lock_;
    bool over_ = false;
    bool write_failed_ = false;
    bool copies_unasked_; ///< And nobody was told yet.
    std::thread thread_;
};

} // namespace assay::tier
