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

/// In which order a region is gone through.
enum class AccessPattern : std::uint8_t {
    unknown,    ///< It shows in the touches.
    sequential, ///< Upwards: what comes next is brought from the first touch on.
    random,     ///< Anywhere: parts are brought, and nothing ahead.
};

/// Memory for what is known of the chunks of all regions, beyond those of the largest size.
struct MetadataBudget {
    std::size_t bytes = 0;
    std::size_t max = 0; ///< Where it would be more, chunks are not split.
};

/// Addresses that the pager answers for.
///
/// Its chunks are of several sizes. Those of the largest are always there; one of the next size is in use
/// where the chunk around it is split. Sizes are told by their level: 0 is the largest.
class Region {
  public:
    /// \param first_chunk that the store has for it.
    /// \throws std::bad_alloc where addresses cannot be had (RLIMIT_AS).
    Region(std::byte* from, std::size_t length, const ChunkSizes& of, std::size_t first_chunk,
           Meter::Entry& entry, MetadataBudget& shared_metadata);
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region() { metadata.bytes -= metadata_bytes; }

    /// A chunk of which nothing is in memory; any other stays whole.
    void split(Chunk& chunk);
    /// The same, so that it can be watched, and some of its parts too.
    void split_for_sampling(Chunk& chunk);
    /// A chunk that is split, where its parts are alike, and none of them is in memory.
    void unsplit(Chunk& chunk);
    /// A chunk that is split, and all of whose parts are mapped, as one; none of them is in any queue.
    void merge(Chunk& chunk);
    /// The size that is wanted now.
    [[nodiscard]] std::size_t fetch_level() const;
    /// The chunk at an address, split or joined to a size where that may be.
    [[nodiscard]] Chunk& resized_at(const std::byte* at, std::size_t level);
    /// The chunk of a size at an address, for which what is around it is split, where that may be; or what is
    /// there.
    [[nodiscard]] Chunk& split_at(const std::byte* at, std::size_t level);
    /// In which order it is gone through.
    void set_pattern(AccessPattern wanted);
    /// A chunk was touched, by which it is judged what is wanted.
    void on_access(const Chunk& chunk, const FetchGranularity::FetchClock& clock);

    /// A thread waits for one more chunk, or for one less.
    void begin_wait(Chunk& chunk);
    void end_wait(Chunk& chunk);
    void count_wait();
    /// All of a chunk, split or not.
    [[nodiscard]] bool is_mapped(const Chunk& chunk);
    /// What nobody has touched of the last chunk: regions are of whole ones, and what the program has need
    /// not be.
    [[nodiscard]] bool is_tail_padding(const Chunk& chunk) const {
        return chunk.state == Chunk::State::zero && chunk.at >= base + bytes - sizes.largest();
    }

    [[nodiscard]] bool holds(const std::byte* at) const { return at >= base && at < base + bytes; }
    /// Of so many bytes, from the beginning of the region on.
    [[nodiscard]] std::size_t number(const std::byte* at, std::size_t level) const {
        return static_cast<std::size_t>(at - base) / sizes[level];
    }
    [[nodiscard]] Chunk& chunk_at(const std::byte* at) { return chunks()[number(at, 0)]; }
    /// The chunk at an address that is not split, or is of this level.
    [[nodiscard]] Chunk& leaf_at(const std::byte* at, std::size_t deepest = ChunkSizes::max) {
        std::size_t level = 0;
        Chunk* one = &chunk_at(at);
        while (one->state == Chunk::State::split && level < deepest) {
            ++level;
            one = &levels[level].chunks[number(at, level)];
        }
        return *one;
    }
    /// Of a chunk that is split.
    [[nodiscard]] std::span<Chunk> parts_of(const Chunk& chunk) {
        const std::size_t level = level_of(chunk) + 1;
        return {levels[level].chunks.begin() + number(chunk.at, level), chunk.bytes() / sizes[level]};
    }
    /// All that a chunk consists of, one after the other.
    template <class Do>
    void for_each_leaf(Chunk& chunk, Do act) {
        if (chunk.state != Chunk::State::split) return act(chunk);
        for (Chunk& part : parts_of(chunk)) for_each_leaf(part, act);
    }
    [[nodiscard]] std::size_t level_of(const Chunk& chunk) const { return sizes.level_of(chunk.bytes()); }
    [[nodiscard]] Table<Chunk>& chunks() { return levels[0].chunks; }
    /// A touch of a chunk, as traces have it.
    [[nodiscard]] Access access_of(const std::byte* at, std::size_t level) const {
        return {ordinal, static_cast<std::uint32_t>(level), number(at, level)};
    }
    /// Where a chunk lies in the store.
    [[nodiscard]] std::uint64_t position_of(const Chunk& chunk) const {
        return first_store_chunk * sizes.largest() + static_cast<std::size_t>(chunk.at - base);
    }

    /// Of one size.
    struct Level {
        Table<Chunk> chunks{0}; ///< Of all the region; those that were ever in use take memory.
        StreamDetector streams; ///< While they are wanted.
        FetchGranularity granularity{1, nullptr}; ///< Whether their parts are.
    };

    std::uint32_t ordinal = 0; ///< Of all that ever were.
    std::byte* base;
    std::size_t bytes; ///< A multiple of the largest chunk.
    ChunkSizes sizes;
    std::size_t first_store_chunk; ///< The store's number of the first chunk.
    std::array<Level, ChunkSizes::max> levels;
    AccessPattern pattern = AccessPattern::unknown;
    Meter::Entry& meter_entry;
    MetadataBudget& metadata;
    std::size_t metadata_bytes = 0; ///< Of them.
    std::size_t waiting_chunks = 0; ///< Chunks that threads wait for.
    Nanos waiting_since = 0;        ///< What was waited before is counted.
    std::size_t transfers = 0;      ///< That are on their way.
    bool removed = false;           ///< Nobody asks for it any more; it goes with its last transfer.
};

} // namespace assay::tier
