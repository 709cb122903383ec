#pragma once

/// Shared by variants for different processors. Everything here is local to the including file: of a function
/// with one definition per program, the linker might keep the version for a newer processor.

#include "kernels/cell-list/work.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Box;
using assay::kernels::Cost;
using assay::kernels::cutoff;
using assay::kernels::max_particles;

constexpr double cutoff2 = cutoff * cutoff;
constexpr std::size_t cells_around = 27;

/// A cell as another cell's neighbour. Beyond the border of the box, it is the cell on the opposite side,
/// shifted by the length of the box.
struct Image {
    std::size_t first, last;
    double x, y, z;
};

/// Return the coordinate of a neighbour (0: the one before, 1: the cell itself, 2: the one behind), and the
/// shift of its particles.
inline std::size_t wrapped(std::size_t at, std::size_t away, std::size_t edge, double& shift) {
    const double length = cutoff * static_cast<double>(edge);
    shift = 0.0;
    if (away == 0 && at == 0) {
        shift = -length;
        return edge - 1;
    }
    if (away == 2 && at + 1 == edge) {
        shift = length;
        return 0;
    }
    return at + away - 1;
}

/// Return neighbour `which` of a cell's 27 neighbours, from the one before it in all directions to the one
/// behind it. Number 13 is the cell itself.
inline Image image(const Box& b, std::size_t cell, std::size_t which) {
    const std::size_t edge = b.edge;
    Image found{};
    const std::size_t x = wrapped(cell % edge, which % 3, edge, found.x);
    const std::size_t y = wrapped(cell / edge % edge, which / 3 % 3, edge, found.y);
    const std::size_t z = wrapped(cell / edge / edge, which / 9, edge, found.z);
    const std::size_t number = x + edge * (y + edge * z);
    found.first = static_cast<std::size_t>(b.first[number]);
    found.last = found.first + static_cast<std::size_t>(b.count[number]);
    return found;
}

/// Return the factor by which the distance vector of two particles is multiplied, 24 (2 / r^14 - 1 / r^8),
/// from the square of r.
template <class T>
inline T strength(const T& r2) {
    const T s = 1.0 / r2, s3 = s * s * s;
    return s * s3 * (48.0 * s3 - 24.0);
}

/// Compute the forces on the particles of one cell, each from all of its partners.
inline void cell_by_itself(const Box& b, std::size_t cell) {
    Image around[cells_around];
    for (std::size_t which = 0; which < cells_around; ++which) around[which] = image(b, cell, which);
    const Image& own = around[cells_around / 2];
    for (std::size_t i = own.first; i < own.last; ++i) {
        double fx = 0.0, fy = 0.0, fz = 0.0;
        for (const Image& other : around)
            for (std::size_t j = other.first; j < other.last; ++j) {
                const double dx = b.x[i] - (b.x[j] + other.x);
                const double dy = b.y[i] - (b.y[j] + other.y);
                const double dz = b.z[i] - (b.z[j] + other.z);
                const double r2 = dx * dx + dy * dy + dz * dz;
                if (r2 >= cutoff2 || r2 == 0.0) continue;
                const double f = strength(r2);
                fx += f * dx;
                fy += f * dy;
                fz += f * dz;
            }
        b.fx[i] = fx;
        b.fy[i] = fy;
        b.fz[i] = fz;
    }
}

/// Add the force of one pair to both particles, with opposite signs (Newton's third law).
inline void pull(const Box& b, std::size_t i, std::size_t j, const Image& other) {
    const double dx = b.x[i] - (b.x[j] + other.x);
    const double dy = b.y[i] - (b.y[j] + other.y);
    const double dz = b.z[i] - (b.z[j] + other.z);
    const double r2 = dx * dx + dy * dy + dz * dz;
    if (r2 >= cutoff2) return;
    const double f = strength(r2);
    b.fx[i] += f * dx;
    b.fy[i] += f * dy;
    b.fz[i] += f * dz;
    b.fx[j] -= f * dx;
    b.fy[j] -= f * dy;
    b.fz[j] -= f * dz;
}

/// Evaluate the pairs within one cell, and those with the 13 cells behind it.
inline void cell_with_those_behind(const Box& b, std::size_t cell) {
    const Image own = image(b, cell, cells_around / 2);
    for (std::size_t i = own.first; i < own.last; ++i)
        for (std::size_t j = i + 1; j < own.last; ++j) pull(b, i, j, own);
    for (std::size_t which = cells_around / 2 + 1; which < cells_around; ++which) {
        const Image other = image(b, cell, which);
        for (std::size_t i = own.first; i < own.last; ++i)
            for (std::size_t j = other.first; j < other.last; ++j) pull(b, i, j, other);
    }
}

inline std::size_t cells_of(const Box& b) {
    return b.edge * b.edge * b.edge;
}

/// Return the cost if each pair is evaluated once: 8 operations for a candidate, 6 for its strength, 3 for
/// the force and 6 for adding it to both particles.
[[maybe_unused]] inline Cost half_cost(const Box& b) {
    const auto n = static_cast<double>(b.particles), cells = static_cast<double>(cells_of(b));
    const double bytes = 48.0 * n + 12.0 * cells;
    return {.flops = 4.0 * (b.candidates - n) + 7.5 * b.pairs,
            .special = 0.5 * b.pairs,
            .bytes = bytes,
            .bytes_with_allocate = bytes + 24.0 * n};
}

} // namespace
