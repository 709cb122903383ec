#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// What is conserved of a gas in two dimensions: mass, momentum in x and y, energy.
inline constexpr std::size_t fields = 4;

/// Of air: what heat is to pressure.
inline constexpr double gamma = 1.4;

/// How long a step is, over the time in which the fastest wave passes a cell.
inline constexpr double ratio = 0.2;

/// Euler's equations on a periodic grid, by finite volumes: each step takes from a cell what flows out of its
/// four sides, by Rusanov's flux, (F(l) + F(r)) / 2 - (r - l) s / 2 with the speed s of the fastest wave.
///
/// Each array has all fields, one after the other, each row by row.
struct Gas {
    double* state; ///< That steps begin with; they are written in turn over `other` and `state`.
    double* other;
    int* found; ///< Which has the last step: 0 `state`, 1 `other`.
    std::size_t nx, ny;
    std::size_t steps;

    std::size_t together;   ///< Steps that are taken in one pass over the grid.
    std::size_t wide, high; ///< Cells of a tile in such a pass.
    double* rooms;          ///< Of each thread: what flows through sides, and two tiles with what is around.
    std::size_t room;       ///< Elements of one of them.
};

/// Sides of the cells of a row that one direction has, and one more.
constexpr std::size_t sides(std::size_t cells) {
    return fields * (cells + 1);
}

/// A tile with so many cells around it as it loses in all steps but what it hands on.
constexpr std::size_t cells_of_tile(std::size_t wide, std::size_t high, std::size_t together) {
    return (wide + 2 * together) * (high + 2 * together);
}

} // namespace assay::kernels
