#pragma once

/// Local to each file that includes it: see forces.hpp.

#include "kernels/cell-list/vectors.hpp"

namespace {

/// Compute all forces; each thread processes a contiguous range of cells.
template <class V>
void rows_side_by_side(const Box& b) {
#pragma omp parallel for schedule(static)
    for (std::size_t cell = 0; cell < cells_of(b); ++cell) cell_in_lanes<V>(b, cell);
}

/// Compute all forces; each thread processes a part of the curve.
template <class V>
void curve_side_by_side(const Box& b) {
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < cells_of(b); ++k) cell_in_lanes<V>(b, static_cast<std::size_t>(b.along[k]));
}

} // namespace
