#pragma once

#include "kernels/gram-schmidt/work.hpp"

namespace assay::kernels {

/// A system of equations from a grid: each unknown hangs on its six neighbours and itself.
struct System {
    static constexpr std::size_t neighbours = 6;
    /// Relative length of the residual, below which it consists of rounding.
    static constexpr double nothing = 1e-14;

    const double* centre; ///< The diagonal of the matrix.
    const double*
        beside[neighbours]; ///< Its other entries: of the neighbours before, after, left, right, under, over.
    const double* right_side;
    double* solution;
    double* residual;
    double* weights;  ///< Weight of each vector of the base.
    std::size_t edge; ///< Unknowns along an edge of the grid, which is a cube.
    std::size_t steps;
    std::size_t* done; ///< Completed steps: fewer, where nothing was left to be done.
    Base base;         ///< Room for its vectors; `vectors` of them are there at a time.
};

} // namespace assay::kernels
