#pragma once

#include "common/clock.hpp"
#include "tier/base/meter.hpp"
#include "tier/base/table.hpp"
#include "tier/memory/chunk.hpp"
#include "tier/memory/chunk_sizes.hpp"
#include "tier/policy/access_trace.hpp"
#include "tier/policy/fetch_granularity.hpp"
#include "tier/policy/stream_detector.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::tier {

/// Access pattern of a region.
enum class AccessPattern : std::uint8_t {
    unknown,    ///< Detected from page faults.
    sequential, ///< Ascending: prefetch begins with the first fault.
    random,     ///< Parts are fetched, and nothing is prefetched.
};

/// Memory for the metadata of split chunks, in all regions.
struct MetadataBudget {
    std::size_t bytes = 0;
    std::size_t max = 0; ///< Chunks are not split beyond this limit.
};

/// Range of addresses whose page faults the pager resolves.
///
/// Chunks have several sizes, identified by level; level 0 is the largest. Chunks of level 0 always exist;
/// those of the next level are in use if the chunk around them is split.
class Region {
  public:
    /// \param first_chunk number of its first chunk in the store.
    /// \throws std::bad_alloc if address space is exhausted (RLIMIT_AS).
    Region(std::byte* from, std::size_t length, const ChunkSizes& of, std::size_t first_chunk,
           Meter::Entry& entry, MetadataBudget& shared_metadata);
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region() { metadata.bytes -= metadata_bytes; }

    /// Split a chunk without any resident part; others remain whole.
    void split(Chunk& chunk);
    /// Split a chunk to sample its use, and some of its parts as well.
    void split_for_sampling(Chunk& chunk);
    /// Undo a split if all parts are in the same state and none is resident.
    void unsplit(Chunk& chunk);
    /// Merge the parts of a split chunk, all of them mapped and none in a list.
    void merge(Chunk& chunk);
    /// Return the level that is fetched at present.
    [[nodiscard]] std::size_t fetch_level() const;
    /// Return the chunk at an address, split or unsplit to a level if possible.
    [[nodiscard]] Chunk& resized_at(const std::byte* at, std::size_t level);
    /// Return the chunk of a level at an address, after splitting the chunks around it. If one cannot be
    /// split, return that one.
    [[nodiscard]] Chunk& split_at(const std::byte* at, std::size_t level);
    /// Set the access pattern.
    void set_pattern(AccessPattern wanted);
    /// Record an access to a chunk as a sample of chunk use.
    void on_access(const Chunk& chunk, const FetchGranularity::Clock& clock);

    /// Begin or end the wait for a chunk.
    void begin_wait(Chunk& chunk);
    void end_wait(Chunk& chunk);
    void count_wait();
    /// Return true if all of a chunk is mapped, split or not.
    [[nodiscard]] bool is_mapped(const Chunk& chunk);
    /// Return true for an unused part of the last chunk: regions consist of whole chunks, allocations need
    /// not.
    [[nodiscard]] bool is_tail_padding(const Chunk& chunk) const {
        return chunk.state == Chunk::State::zero && chunk.at >= base + bytes - sizes.largest();
    }

    [[nodiscard]] bool holds(const std::byte* at) const { return at >= base && at < base + bytes; }
    /// Return the number of a chunk, counted from the beginning of the region.
    [[nodiscard]] std::size_t number(const std::byte* at, std::size_t level) const {
        return static_cast<std::size_t>(at - base) / sizes[level];
    }
    [[nodiscard]] Chunk& chunk_at(const std::byte* at) { return chunks()[number(at, 0)]; }
    /// Return the chunk at an address that is not split, or that has the level `deepest`.
    [[nodiscard]] Chunk& leaf_at(const std::byte* at, std::size_t deepest = ChunkSizes::max) {
        std::size_t level = 0;
        Chunk* one = &chunk_at(at);
        while (one->state == Chunk::State::split && level < deepest) {
            ++level;
            one = &levels[level].chunks[number(at, level)];
        }
        return *one;
    }
    /// Return the parts of a split chunk.
    [[nodiscard]] std::span<Chunk> parts_of(const Chunk& chunk) {
        const std::size_t level = level_of(chunk) + 1;
        return {levels[level].chunks.begin() + number(chunk.at, level), chunk.bytes() / sizes[level]};
    }
    /// Call a function for each leaf of a chunk, in order of addresses.
    template <class Do>
    void for_each_leaf(Chunk& chunk, Do act) {
        if (chunk.state != Chunk::State::split) return act(chunk);
        for (Chunk& part : parts_of(chunk)) for_each_leaf(part, act);
    }
    [[nodiscard]] std::size_t level_of(const Chunk& chunk) const { return sizes.level_of(chunk.bytes()); }
    [[nodiscard]] Table<Chunk>& chunks() { return levels[0].chunks; }
    /// Return the trace record of an access.
    [[nodiscard]] Access access_of(const std::byte* at, std::size_t level) const {
        return {ordinal, static_cast<std::uint32_t>(level), number(at, level)};
    }
    /// Return the position of a chunk in the store.
    [[nodiscard]] std::uint64_t position_of(const Chunk& chunk) const {
        return first_store_chunk * sizes.largest() + static_cast<std::size_t>(chunk.at - base);
    }

    /// State of one chunk size.
    struct Level {
        Table<Chunk> chunks{0}; ///< All chunks of the region; only those ever used take memory.
        StreamDetector streams; ///< Streams at this level.
        FetchGranularity granularity{1, nullptr}; ///< Decides whether to fetch parts instead.
    };

    std::uint32_t ordinal = 0; ///< Number among all regions ever created.
    std::byte* base;
    std::size_t bytes; ///< A multiple of the largest chunk.
    ChunkSizes sizes;
    std::size_t first_store_chunk; ///< Number of the first chunk in the store.
    std::array<Level, ChunkSizes::max> levels;
    AccessPattern pattern = AccessPattern::unknown;
    Meter::Entry& meter_entry;
    MetadataBudget& metadata;
    std::size_t metadata_bytes = 0; ///< Share of this region.
    std::size_t waiting_chunks = 0; ///< Chunks with waiting threads.
    Nanos waiting_since = 0;        ///< Waits before this time are counted.
    std::size_t transfers = 0;      ///< Transfers in flight.
    bool removed = false;           ///< Freed with its last transfer.
};

} // namespace assay::tier
