#pragma once

/// Distribution of chunks among threads.

#include "kernels/deflate/codec/each.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace assay::kernels {

namespace {

template <OfChunk* one>
void side_by_side(const Chunks& w) {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < w.count; ++i) {
#ifdef _OPENMP
        unsigned char* const own =
            w.scratch + static_cast<std::size_t>(omp_get_thread_num()) * w.scratch_step;
#else
        unsigned char* const own = w.scratch;
#endif
        w.each[i].made = one(w.each[i], own);
    }
}

} // namespace

} // namespace assay::kernels
