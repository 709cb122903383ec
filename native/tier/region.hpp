#pragma once

#include "tier/chunk.hpp"
#include "tier/streams.hpp"
#include "tier/table.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// What became of a region's faults, and what was transferred for it.
struct Counts {
    std::uint64_t first = 0;     ///< Touches of what was never written: zeros.
    std::uint64_t demand = 0;    ///< A thread waited for a transfer from its beginning on.
    std::uint64_t late = 0;      ///< It was on its way already.
    std::uint64_t staged = 0;    ///< It was there.
    std::uint64_t again = 0;     ///< It was there, for it had only been unmapped.
    std::uint64_t wasted = 0;    ///< Brought ahead, and given up without a touch.
    std::uint64_t unchanged = 0; ///< Taken away without being written: it was as in its slot.
    std::uint64_t read_bytes = 0, written_bytes = 0;
};

/// Addresses that the pager answers for.
struct Region {
    Region(std::byte* at, std::size_t length, std::size_t chunk)
        : base(at), bytes(length), chunk_bytes(chunk), chunks(length / chunk) {
        for (std::size_t i = 0; i < length / chunk; ++i) chunks.add().region = this;
    }

    std::byte* base;
    std::size_t bytes; ///< A multiple of a chunk.
    std::size_t chunk_bytes;
    Table<Chunk> chunks;
    Streams streams;
    Counts counts;
    std::size_t transfers = 0; ///< That are on their way.
    bool gone = false;         ///< Nobody asks for it any more; it goes with its last transfer.
};

} // namespace assay::tier
