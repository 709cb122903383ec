#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Removes the components of x along the vectors of an orthonormal base, and the same multiples of their
/// companions from y: sums[i] = q_i x, x -= sum of sums[i] q_i, y -= sum of sums[i] d_i.
struct Base {
    const double* q; ///< The base: vector i begins at i times stride.
    const double* d; ///< Its companions (search directions of the solver), with the same layout.
    double* x;
    double* y;
    double* sums; ///< One component for each vector of the base.
    std::size_t n;
    std::size_t vectors;
    std::size_t stride;
    std::size_t chunk; ///< Elements of a chunk, which is processed for all vectors before the next.
    /// Number of vectors that fit the last-level cache; all vectors if fewer than two do.
    std::size_t together;
    std::size_t ahead; ///< Distance of prefetch in elements; 0 for none.
    double* own;       ///< Scratch memory of each thread: twice as many sums, aligned to a cache line.
    std::size_t room;  ///< Number of elements for each thread.
};

} // namespace assay::kernels
