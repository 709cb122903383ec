#pragma once

#include "kernels/gram-schmidt/work.hpp"

namespace assay::kernels {

/// A system of equations from a grid: each equation contains an unknown and its six neighbours.
struct System {
    static constexpr std::size_t neighbours = 6;
    /// Relative length of the residual below which it consists of rounding errors.
    static constexpr double rounding = 1e-14;

    const double* centre; ///< The diagonal of the matrix.
    /// The other entries, for the neighbours before, after, left, right, under and over.
    const double* beside[neighbours];
    const double* right_side;
    double* solution;
    double* residual;
    double* weights;  ///< Weight of each vector of the base.
    std::size_t edge; ///< Number of unknowns along an edge of the grid, which is a cube.
    std::size_t steps;
    std::size_t* done; ///< Number of completed steps; fewer than `steps` if only rounding errors remain.
    Base base;         ///< Space for the vectors of the base, of which the first `vectors` are filled.
};

} // namespace assay::kernels
