#pragma once

#include "kernels/dgemm/blocked.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

/// Multiply with all threads: they pack the shared A together, and then each takes one tile of B after
/// another.
template <class Core>
void side_by_side(const Product& w) {
#ifdef _OPENMP
    const auto threads = static_cast<std::size_t>(omp_get_max_threads());
#else
    const std::size_t threads = 1;
#endif
    if (w.k == 0)
        for (std::size_t i = 0; i < w.m * w.n; ++i) w.c[i] = 0.0;
    const std::size_t share = (w.n + threads - 1) / threads;
    const std::size_t depth = part(w.k, w.tile_k, 1);
    const std::size_t width = part(w.n, share ? minimum(w.tile_n, share) : w.tile_n, Core::columns);
#pragma omp parallel
    {
#ifdef _OPENMP
        double* const room = w.tiles + static_cast<std::size_t>(omp_get_thread_num()) * w.room;
#else
        double* const room = w.tiles;
#endif
        for (std::size_t p = 0; p < w.k; p += depth) {
            const std::size_t deep = minimum(depth, w.k - p);
#pragma omp for schedule(static)
            for (std::size_t i = 0; i < w.m; i += group<Core>) pack_group<Core>(w, p, deep, i);
#pragma omp for schedule(dynamic)
            for (std::size_t j = 0; j < w.n; j += width)
                tile<Core>(w, p, deep, j, minimum(width, w.n - j), room);
        }
    }
}

} // namespace
