#pragma once

/// Local to each file that includes it: see sweep.hpp.

#include "kernels/acoustic/sweep.hpp"

namespace {

/// Do all steps; the rows of all planes are divided among threads.
inline void rows_side_by_side(const Wave& w) {
#pragma omp parallel
    for (std::ptrdiff_t t = 0; t < w.steps; ++t) {
#pragma omp for collapse(2) schedule(static)
        for (std::ptrdiff_t z = 0; z < w.nz; ++z)
            for (std::ptrdiff_t y = 0; y < w.ny; ++y) step_row(w, Step(w, t), y, z, w.nx);
    }
}

/// Do all steps; boxes are divided among threads, and each thread's boxes are adjacent in z.
template <class Work>
inline void boxes_side_by_side(const Wave& w, Work work) {
#pragma omp parallel
    for (std::ptrdiff_t t = 0; t < w.steps; ++t) {
#pragma omp for collapse(2) schedule(static)
        for (std::ptrdiff_t z = 0; z < w.nz; z += w.block_z)
            for (std::ptrdiff_t y = 0; y < w.ny; y += w.block_y)
                work(w, Step(w, t), Box{y, minimum(y + w.block_y, w.ny), z, minimum(z + w.block_z, w.nz)});
    }
}

} // namespace
