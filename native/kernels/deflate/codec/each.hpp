#pragma once

/// Chunks one after the other.

#include "kernels/deflate/codec/work.hpp"

namespace assay::kernels {

namespace {

/// \return number of bytes written, or `failed`.
using OfChunk = std::size_t(const Chunk& chunk, unsigned char* scratch);

template <OfChunk* one>
void each(const Chunks& w) {
    for (std::size_t i = 0; i < w.count; ++i) w.each[i].made = one(w.each[i], w.scratch);
}

inline const char* only_inflates(const Chunks& w) {
    return w.direction == compressing ? "needs direction=1" : nullptr;
}

inline const char* only_compresses(const Chunks& w) {
    return w.direction == inflating ? "needs direction=0" : nullptr;
}

} // namespace

} // namespace assay::kernels
