#pragma once

/// Shared by variants for different processors. Everything here is local to the including file: of a function
/// with one definition per program, the linker might keep the version for a newer processor.

#include "kernels/acoustic/work.hpp"

namespace {

using assay::kernels::radius;
using assay::kernels::Wave;

inline std::ptrdiff_t minimum(std::ptrdiff_t a, std::ptrdiff_t b) {
    return a < b ? a : b;
}

/// Arrays that one step reads and writes.
struct Step {
    const float* u;
    float* written; ///< Contains u of the previous step; receives u of the next step.

    explicit Step(const Wave& w, std::ptrdiff_t t)
        : u(t % 2 ? w.before : w.now), written(t % 2 ? w.now : w.before) {}
};

/// Add c_k times the k-th neighbours on both sides in all directions to a sum. This is a recursion, since
/// compilers vectorise the loop over a row only if it contains no other loop.
template <std::ptrdiff_t k = 1>
inline float add_neighbours(float sum, const float* c, const float* u, std::ptrdiff_t row,
                            std::ptrdiff_t plane) {
    sum += c[k] * (u[k] + u[-k] + u[k * row] + u[-k * row] + u[k * plane] + u[-k * plane]);
    if constexpr (k < radius) return add_neighbours<k + 1>(sum, c, u, row, plane);
    return sum;
}

/// Return a cell's value after the next step: 61 additions and multiplications.
inline float next(const float* c, const float* u, std::ptrdiff_t row, std::ptrdiff_t plane, float before,
                  float speed) {
    return 2.0F * u[0] - before + speed * add_neighbours(c[0] * u[0], c, u, row, plane);
}

/// Advance the first cells of one row.
inline void step_row(const Wave& w, const Step& step, std::ptrdiff_t y, std::ptrdiff_t z,
                     std::ptrdiff_t cells) {
    const std::ptrdiff_t first = y * w.row + z * w.plane, row = w.row, plane = w.plane;
    const float* const u = step.u + first;
    const float* const speed = w.speed + first;
    float* const written = step.written + first;
    float c[radius + 1];
    for (std::ptrdiff_t k = 0; k <= radius; ++k) c[k] = w.c[k];
    // The pragma states that no written cell is read: otherwise the compiler would have to add comparisons of
    // 59 pairs of pointers.
#pragma GCC ivdep
    for (std::ptrdiff_t x = 0; x < cells; ++x) written[x] = next(c, u + x, row, plane, written[x], speed[x]);
}

/// Do all steps, row by row.
inline void row_by_row(const Wave& w) {
    for (std::ptrdiff_t t = 0; t < w.steps; ++t)
        for (std::ptrdiff_t z = 0; z < w.nz; ++z)
            for (std::ptrdiff_t y = 0; y < w.ny; ++y) step_row(w, Step(w, t), y, z, w.nx);
}

/// A box of rows and planes: unit of work of a thread.
struct Box {
    std::ptrdiff_t y, y_end, z, z_end;
};

/// Advance one box, row by row.
inline void rows_of(const Wave& w, const Step& step, const Box& box) {
    for (std::ptrdiff_t z = box.z; z < box.z_end; ++z)
        for (std::ptrdiff_t y = box.y; y < box.y_end; ++y) step_row(w, step, y, z, w.nx);
}

} // namespace
