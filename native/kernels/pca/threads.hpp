#pragma once

#include "kernels/pca/strips.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

/// Return the number of this thread.
inline std::size_t self() {
#ifdef _OPENMP
    return static_cast<std::size_t>(omp_get_thread_num());
#else
    return 0;
#endif
}

/// Compute correlations with all threads. Blocks are handed out in groups, so that a thread that is delayed
/// by other processes takes fewer. Each thread has its own sums, which are added up at the end.
template <class Products>
void correlate_side_by_side(const Components& w) {
    const std::size_t room = w.wide * w.wide;
#pragma omp parallel
    {
        double* const sums = w.sums + self() * room;
        double* const tile = w.tiles + self() * (w.block + 1) * w.wide;
        double* const less = tile + w.block * w.wide;
        zero(sums, room);
#pragma omp for schedule(dynamic, 8)
        for (std::size_t b = 0; b < w.blocks; ++b) Products::add(w, block_of(w, b, less), tile, sums);
#pragma omp single
        weigh_means(w);
#pragma omp for schedule(dynamic)
        for (std::size_t g = 0; g < groups_of(w); ++g) Products::add(w, means_of(w, g), tile, sums);
#ifdef _OPENMP
        const auto threads = static_cast<std::size_t>(omp_get_num_threads());
#pragma omp for schedule(static)
        for (std::size_t i = 0; i < room; ++i)
            for (std::size_t t = 1; t < threads; ++t) w.sums[i] += w.sums[t * room + i];
#endif
    }
    correlate(w, w.sums, w.wide);
}

template <class V>
void side_by_side(const Components& w) {
    correlate_side_by_side<Strips<V, true>>(w);
    decompose<V, true>(w);
}

} // namespace
