#pragma once

/// Memory that a thread needs beside the chunk that it compresses.

#include "kernels/deflate/codec/tokens.hpp"

namespace assay::kernels {

namespace {

constexpr unsigned hash_bits = 15;
constexpr unsigned hash_3_bits = 12;

/// Positions are stored modulo 65536: candidates are compared anyway, and those further back than a window
/// are rejected.
using Place = std::uint16_t;

struct Scratch {
    Place head[1U << hash_bits]; ///< The last place where bytes of this hash began.
    Place head_3[1U << hash_3_bits];
    Place before[window]; ///< Previous position of the same hash, by position modulo the window.
    alignas(64) Token tokens[block_bytes + 2 * longest_match + token_slack];
};

inline void clear(Place* places, std::size_t n) {
    std::memset(places, 0, n * sizeof *places);
}

} // namespace

} // namespace assay::kernels
