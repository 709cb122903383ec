#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Neighbours on each side of a cell in each direction: differences of order 16.
inline constexpr std::ptrdiff_t radius = 8;

/// The acoustic wave equation, stepped in time: u(t+1) = 2 u(t) - u(t-1) + speed * laplacian(u(t)).
///
/// All three arrays have the same layout, x varying first. Each pointer is to cell (0, 0, 0). Fields and
/// speed are zero around the grid: `radius` rows and planes on each side, 16 cells before each row, and
/// padding of each row to a multiple of 16. So kernels can process a row in whole vectors: the padding stays
/// zero.
struct Wave {
    float* now;         ///< u at the first step; steps write to `before` and `now` in turn.
    float* before;      ///< u one step before.
    const float* speed; ///< Square of the number of cells that a wave passes in a step.
    std::ptrdiff_t nx, ny, nz;
    std::ptrdiff_t row, plane; ///< Distance between rows, and between planes, in elements.
    std::ptrdiff_t steps;
    /// Coefficients of the Laplacian: c[0] for the cell itself, for all directions together; c[k] for each of
    /// its k-th neighbours.
    float c[radius + 1];

    std::ptrdiff_t block_y, block_z; ///< Rows and planes of a block.
    std::ptrdiff_t together;         ///< Number of steps in one pass over the grid.
    std::ptrdiff_t band;             ///< Number of rows of a band in such a pass.
};

} // namespace assay::kernels
