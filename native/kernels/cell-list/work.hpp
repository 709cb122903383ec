#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// Cut-off radius, beyond which there is no force; also the edge of a cell, so that all partners of a
/// particle are in its own cell and the 26 around it. Its unit is the distance at which two particles neither
/// attract nor repel.
inline constexpr double cutoff = 2.5;

/// Largest number of particles in a cell.
inline constexpr std::size_t max_particles = 16;

/// Lennard-Jones forces between particles in a periodic box, which is divided into cubic cells. Particles of
/// a cell are contiguous.
struct Box {
    const double *x, *y, *z;
    double *fx, *fy, *fz;
    const std::int64_t* first; ///< First particle of each cell; cells are numbered x + edge * (y + edge * z).
    const std::int32_t* count; ///< Number of particles in each cell.
    const std::int32_t* along; ///< Cells in the order of a curve that fills the box.
    std::size_t edge;          ///< Cells along an edge of the box.
    std::size_t particles;
    /// Number of candidate pairs: for each particle, all particles of the 27 cells, including itself.
    double candidates;
    double pairs; ///< Number of pairs with a force; if there are many, extrapolated from a part.
};

} // namespace assay::kernels
