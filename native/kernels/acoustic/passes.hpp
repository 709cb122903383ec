#pragma once

/// Local to each file that includes it: see sweep.hpp.

#include "kernels/acoustic/vectors.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

using assay::kernels::Cost;

inline std::ptrdiff_t clipped(std::ptrdiff_t value, std::ptrdiff_t end) {
    return value < 0 ? 0 : minimum(value, end);
}

/// Return this thread's part of the rows.
inline Box own_part(Box box) {
#ifdef _OPENMP
    const std::ptrdiff_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
#else
    const std::ptrdiff_t thread = 0, threads = 1;
#endif
    const std::ptrdiff_t rows = box.y_end - box.y;
    box.y_end = box.y + rows * (thread + 1) / threads;
    box.y += rows * thread / threads;
    return box;
}

/// Do several steps in one pass over the grid (wavefronts: Lamport 1974; their tiles in time: Wellein et al.,
/// Efficient temporal blocking for stencil computations by multicore-aware wavefront parallelization, 2009).
///
/// Each step is `lag` cells behind the previous one in y and in z: there, all its input has been written, and
/// no step still reads the cells that it overwrites. Threads share the rows of a band and wait for each other
/// after each step of each group of planes.
template <class T, std::ptrdiff_t lag = radius>
inline void pass(const Wave& w, std::ptrdiff_t first, std::ptrdiff_t steps) {
    const std::ptrdiff_t behind = lag * (steps - 1);
    for (std::ptrdiff_t y = 0; y < w.ny + behind; y += w.band) {
        for (std::ptrdiff_t z = 0; z < w.nz + behind; z += T::planes) {
            for (std::ptrdiff_t t = 0; t < steps; ++t) {
                const std::ptrdiff_t back = lag * t;
                const Box box{clipped(y - back, w.ny), clipped(y + w.band - back, w.ny),
                              clipped(z - back, w.nz), clipped(z + T::planes - back, w.nz)};
                if (box.y == box.y_end || box.z == box.z_end) continue;
                tiles_of<T>(w, Step(w, first + t), own_part(box));
                if (steps == 1) continue;
#pragma omp barrier
            }
        }
    }
#pragma omp barrier
}

template <class T, std::ptrdiff_t lag = radius>
inline void passes(const Wave& w) {
#pragma omp parallel
    for (std::ptrdiff_t t = 0; t < w.steps; t += w.together)
        pass<T, lag>(w, t, minimum(w.together, w.steps - t));
}

/// Return the minimum number of bytes that a pass moves for each cell. It reads two fields and the speed. A
/// single step writes one field, several steps write both.
inline double bytes_of_pass(std::ptrdiff_t steps) {
    return steps == 0 ? 0.0 : steps == 1 ? 16.0 : 20.0;
}

/// Return the cost of plain sweeps, with one pass over memory for several steps. Cells read around bands are
/// not counted, so it is a lower bound.
inline Cost passes_cost(const Wave& w) {
    const double cells = static_cast<double>(w.nx) * static_cast<double>(w.ny) * static_cast<double>(w.nz);
    const double bytes = static_cast<double>(w.steps / w.together) * bytes_of_pass(w.together) +
                         bytes_of_pass(w.steps % w.together);
    return {61.0 * cells * static_cast<double>(w.steps), 0.0, bytes * cells, bytes * cells};
}

} // namespace
