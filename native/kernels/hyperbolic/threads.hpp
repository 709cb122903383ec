#pragma once

/// Local to each file that includes it: see flux.hpp.

#include "kernels/hyperbolic/flux.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

inline std::size_t thread() {
#ifdef _OPENMP
    return static_cast<std::size_t>(omp_get_thread_num());
#else
    return 0;
#endif
}

inline std::size_t team() {
#ifdef _OPENMP
    return static_cast<std::size_t>(omp_get_num_threads());
#else
    return 1;
#endif
}

/// Do all steps; the rows are divided among threads.
inline void steps_side_by_side(const Gas& w) {
#pragma omp parallel
    for (std::size_t t = 0; t < w.steps; ++t) {
        const std::size_t first = w.ny * thread() / team(), last = w.ny * (thread() + 1) / team();
        step_rows(w, t, first, last, w.rooms + thread() * w.room);
#pragma omp barrier
    }
    *w.found = w.steps % 2;
}

} // namespace
