#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// A line that a section reads or changes: both numbers are equal whenever no thread is inside a section.
struct Entry {
    std::int64_t first;
    std::int64_t second;
    std::int64_t rest[6];
};

/// Look-ups and changes of a table by many threads.
struct Lookups {
    Entry* table;
    std::size_t entries;
    /// Space for the variant's locks: zero before each repetition, and aligned to a cache line.
    unsigned char* room;
    std::int64_t* torn; ///< Number of entries seen half changed.
    std::int64_t* seen; ///< Number of entries read.
    std::size_t n;      ///< Number of sections, over all threads.
    unsigned writes;    ///< Percentage of sections that change their entries.
    std::size_t length; ///< Number of adjacent entries of a section.
};

/// Number of bytes for locks.
inline constexpr std::size_t room_bytes = 64 * 64;

} // namespace assay::kernels
