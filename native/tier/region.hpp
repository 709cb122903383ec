#pragma once

#include "tier/chunk.hpp"
#include "tier/grain.hpp"
#include "tier/streams.hpp"
#include "tier/table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::tier {

/// What became of a region's faults, and what was transferred for it.
struct Counts {
    std::uint64_t first = 0;     ///< Touches of what was never written: zeros.
    std::uint64_t demand = 0;    ///< A thread waited for a transfer from its beginning on.
    std::uint64_t late = 0;      ///< It was on its way already.
    std::uint64_t staged = 0;    ///< It was there.
    std::uint64_t again = 0;     ///< It was there, for it had only been unmapped.
    std::uint64_t wasted = 0;    ///< Brought ahead, and given up without a touch.
    std::uint64_t unchanged = 0; ///< Taken away without being written: it was as in the store.
    std::uint64_t read_bytes = 0, written_bytes = 0;
};

/// Addresses that the pager answers for.
struct Region {
    /// \param part bytes of a chunk's parts; as many as a chunk has where there are none.
    /// \param first_chunk that the store has for it.
    Region(std::byte* from, std::size_t length, std::size_t chunk, std::size_t part, std::size_t first_chunk);

    /// A chunk of which nothing is in memory; any other stays whole.
    void split(Chunk& chunk);
    /// A chunk that is split, where its parts are alike, and none of them is in memory.
    void join(Chunk& chunk);
    /// Of a chunk that is split.
    [[nodiscard]] std::size_t mapped_parts(const Chunk& chunk);

    [[nodiscard]] bool holds(const std::byte* at) const { return at >= base && at < base + bytes; }
    [[nodiscard]] std::size_t chunk_number(const std::byte* at) const {
        return static_cast<std::size_t>(at - base) / chunk_bytes;
    }
    [[nodiscard]] std::size_t part_number(const std::byte* at) const {
        return static_cast<std::size_t>(at - base) / part_bytes;
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
    Grain grain;
    Counts counts;
    std::size_t transfers = 0; ///< That are on their way.
    bool gone = false;         ///< Nobody asks for it any more; it goes with its last transfer.
};

} // namespace assay::tier
