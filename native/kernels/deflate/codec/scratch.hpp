#pragma once

/// Scratch memory of a thread that compresses.

#include "kernels/deflate/codec/tokens.hpp"

namespace assay::kernels {

namespace {

constexpr unsigned hash_bits = 15;
constexpr unsigned hash_3_bits = 12;

/// Positions are stored modulo 65536: candidates are compared in any case, and those beyond the window are
/// rejected.
using Place = std::uint16_t;

struct Scratch {
    Place head[1U << hash_bits]; ///< Last position of the bytes with this hash.
    Place head_3[1U << hash_3_bits];
    Place before[window]; ///< Previous position with the same hash, indexed by position modulo the window.
    alignas(64) Token tokens[block_bytes + 2 * longest_match + token_slack];
};

inline void clear(Place* places, std::size_t n) {
    std::memset(places, 0, n * sizeof *places);
}

} // namespace

} // namespace assay::kernels
