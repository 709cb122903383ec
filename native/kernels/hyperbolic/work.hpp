#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Conserved quantities of a gas in two dimensions: mass, momentum in x and y, energy.
inline constexpr std::size_t fields = 4;

/// Adiabatic index of air.
inline constexpr double gamma = 1.4;

/// Length of a step, relative to the time in which the fastest wave passes a cell.
inline constexpr double ratio = 0.2;

/// Euler's equations on a periodic grid, by finite volumes: each step subtracts from a cell the fluxes
/// through its four sides, by Rusanov's flux, (F(l) + F(r)) / 2 - (r - l) s / 2 with the speed s of the
/// fastest wave.
///
/// Each array contains all fields, one after the other, each row by row.
struct Gas {
    double* state; ///< Initial state; steps write to `other` and `state` in turn.
    double* other;
    int* found; ///< Array with the last step: 0 `state`, 1 `other`.
    std::size_t nx, ny;
    std::size_t steps;

    std::size_t together;   ///< Number of steps in one pass over the grid.
    std::size_t wide, high; ///< Size of a tile in such a pass, in cells.
    double* rooms;          ///< Scratch of each thread: fluxes, and two tiles with their borders.
    std::size_t room;       ///< Number of elements for each thread.
};

/// Return the number of fluxes through the sides of a row's cells in one direction, including both ends.
constexpr std::size_t sides(std::size_t cells) {
    return fields * (cells + 1);
}

/// Return the number of cells of a tile and its border, which becomes narrower by one cell in each step.
constexpr std::size_t cells_of_tile(std::size_t wide, std::size_t high, std::size_t together) {
    return (wide + 2 * together) * (high + 2 * together);
}

} // namespace assay::kernels
