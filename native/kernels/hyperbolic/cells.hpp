#pragma once

/// Local to each file that includes it: see flux.hpp.

#include "kernels/hyperbolic/flux.hpp"

namespace {

/// Fluxes through a cell's two sides in one direction, computed for this cell alone.
struct Outflow {
    double out[fields];

    Outflow(const double* before, const double* cell, const double* behind, std::size_t field,
            std::size_t along) {
        double left[fields], right[fields];
        through(before, cell, field, along, left, 1);
        through(cell, behind, field, along, right, 1);
        for (std::size_t f = 0; f < fields; ++f) out[f] = right[f] - left[f];
    }
};

inline Outflow in_x(const Gas& w, const Cells& from, std::size_t x, std::size_t y) {
    return {from.at((x + w.nx - 1) % w.nx, y), from.at(x, y), from.at((x + 1) % w.nx, y), from.field, 1};
}

inline Outflow in_y(const Gas& w, const Cells& from, std::size_t x, std::size_t y) {
    return {from.at(x, (y + w.ny - 1) % w.ny), from.at(x, y), from.at(x, (y + 1) % w.ny), from.field, 2};
}

} // namespace
