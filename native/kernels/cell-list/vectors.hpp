#pragma once

/// Local to each file that includes it: see forces.hpp.

#include "kernels/cell-list/forces.hpp"
#include "kernels/frame/vectors.hpp"

namespace {

/// Compute the forces on all particles of one cell at once, one particle in each lane of the vectors, with
/// one partner after another. Lanes without a particle have coordinates far from all particles.
template <class V>
inline void cell_in_lanes(const Box& b, std::size_t cell) {
    constexpr std::size_t lanes = sizeof(V) / sizeof(double), vectors = max_particles / lanes;
    constexpr double nowhere = 1e9;
    const Image own = image(b, cell, cells_around / 2);
    const std::size_t here = own.last - own.first;
    double place[3][max_particles];
    for (std::size_t i = 0; i < max_particles; ++i) {
        place[0][i] = i < here ? b.x[own.first + i] : nowhere;
        place[1][i] = i < here ? b.y[own.first + i] : nowhere;
        place[2][i] = i < here ? b.z[own.first + i] : nowhere;
    }
    V at[3][vectors], force[3][vectors] = {};
    __builtin_memcpy(at, place, sizeof at);
    for (std::size_t which = 0; which < cells_around; ++which) {
        const Image other = image(b, cell, which);
        for (std::size_t j = other.first; j < other.last; ++j) {
            const double x = b.x[j] + other.x, y = b.y[j] + other.y, z = b.z[j] + other.z;
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) {
                const V dx = at[0][v] - x, dy = at[1][v] - y, dz = at[2][v] - z;
                const V r2 = dx * dx + dy * dy + dz * dz;
                const V f = ((r2 < cutoff2) & (r2 > 0.0)) ? strength(r2) : V{};
                force[0][v] += f * dx;
                force[1][v] += f * dy;
                force[2][v] += f * dz;
            }
        }
    }
    __builtin_memcpy(place, force, sizeof place);
    for (std::size_t i = 0; i < here; ++i) {
        b.fx[own.first + i] = place[0][i];
        b.fy[own.first + i] = place[1][i];
        b.fz[own.first + i] = place[2][i];
    }
}

template <class V>
void rows_in_lanes(const Box& b) {
    for (std::size_t cell = 0; cell < cells_of(b); ++cell) cell_in_lanes<V>(b, cell);
}

} // namespace
