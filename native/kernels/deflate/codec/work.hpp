#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

enum Direction : int { compressing = 0, inflating = 1 };

/// Result for a chunk that is not a valid stream, or whose output buffer is too small.
constexpr std::size_t failed = SIZE_MAX;

/// A chunk that is compressed or inflated independently: a stream of its own (raw deflate, RFC 1951).
struct Chunk {
    const unsigned char* from;
    std::size_t bytes; ///< Size of the input, in bytes.
    unsigned char* to;
    std::size_t room; ///< Size of the output buffer, in bytes.
    std::size_t made; ///< Number of bytes written, or `failed`.
};

struct Chunks {
    Chunk* each;
    std::size_t count;
    Direction direction;
    bool damaged;           ///< True if streams are damaged, so that many of them are invalid.
    unsigned char* scratch; ///< Scratch memory of all threads, one after another.
    std::size_t scratch_step;
};

} // namespace assay::kernels
