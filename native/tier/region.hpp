#pragma once

#include "tier/chunk.hpp"
#include "tier/grain.hpp"
#include "tier/meter.hpp"
#include "tier/streams.hpp"
#include "tier/table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::tier {

/// In which order a region is gone through.
enum class Order : std::uint8_t {
    unknown,    ///< It shows in the touches.
    sequential, ///< Upwards: what comes next is brought from the first touch on.
    random,     ///< Anywhere: parts are brought, and nothing ahead.
};

/// Addresses that the pager answers for.
struct Region {
    /// \param part bytes of a chunk's parts; as many as a chunk has where there are none.
    /// \param first_chunk that the store has for it.
    Region(std::byte* from, std::size_t length, std::size_t chunk, std::size_t part, std::size_t first_chunk,
           Meter::Entry& entry);

    /// A chunk of which nothing is in memory; any other stays whole.
    void split(Chunk& chunk);
    /// A chunk that is split, where its parts are alike, and none of them is in memory.
    void join(Chunk& chunk);
    /// A thread waits for one more chunk, or for one less.
    void begin_wait(Chunk& chunk);
    void end_wait(Chunk& chunk);
    void count_wait();
    /// All of a chunk, split or not.
    [[nodiscard]] bool is_mapped(const Chunk& chunk);
    /// Of a chunk that is split.
    [[nodiscard]] std::size_t mapped_parts(const Chunk& chunk);

    [[nodiscard]] bool holds(const std::byte* at) const { return at >= base && at < base + bytes; }
    [[nodiscard]] std::size_t chunk_number(const std::byte* at) const {
        return static_cast<std::size_t>(at - base) / chunk_bytes;
    }
    [[nodiscard]] std::size_t part_number(const std::byte* at) const {
        return static_cast<std::size_t>(at - base) / part_bytes;
    }
    [[nodiscard]] std::size_t part_in_chunk(const std::byte* at) const {
        return part_number(at) % (chunk_bytes / part_bytes);
    }
    [[nodiscard]] Chunk& chunk_at(const std::byte* at) { return chunks[chunk_number(at)]; }
    /// Of a chunk that is split.
    [[nodiscard]] std::span<Chunk> parts_of(const Chunk& chunk) {
        return {parts.begin() + part_number(chunk.at), chunk_bytes / part_bytes};
    }
    /// The chunk at an address, or its part there, where it is split.
    [[nodiscard]] Chunk& piece_at(const std::byte* at) {
        Chunk& chunk = chunk_at(at);
        return chunk.state == Chunk::State::split ? parts[part_number(at)] : chunk;
    }
    /// Where a chunk, or a part of one, lies in the store.
    [[nodiscard]] std::uint64_t position_of(const Chunk& chunk) const {
        return first * chunk_bytes + static_cast<std::size_t>(chunk.at - base);
    }

    std::byte* base;
    std::size_t bytes; ///< A multiple of a chunk.
    std::size_t chunk_bytes, part_bytes;
    std::size_t first; ///< The store's number of the first chunk.
    Table<Chunk> chunks;
    Table<Chunk> parts; ///< Of all chunks; those of the split ones are in use, and only these take memory.
    Streams by_chunk, by_part;
    Order order = Order::unknown;
    Grain grain;
    Meter::Entry& shown;
    std::size_t waiting = 0;         ///< Chunks that threads wait for.
    std::uint64_t waiting_since = 0; ///< Nanoseconds; what was waited before is counted.
    std::size_t transfers = 0;       ///< That are on their way.
    bool gone = false;               ///< Nobody asks for it any more; it goes with its last transfer.
};

} // namespace assay::tier
