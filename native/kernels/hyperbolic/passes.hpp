#pragma once

/// Local to each file that includes it: see flux.hpp.

#include "kernels/hyperbolic/threads.hpp"

namespace {

inline std::size_t minimum(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

/// Copy a part of the grid and a border around it; the grid is periodic, so the border may continue on the
/// opposite side.
inline void fetch(const Gas& w, const Cells& from, std::size_t x, std::size_t y, std::size_t around,
                  const Cells& to, std::size_t wide, std::size_t high) {
    // The border of a tile may be wider than the grid.
    const std::size_t left = (x + w.nx - around % w.nx) % w.nx, low = (y + w.ny - around % w.ny) % w.ny;
    for (std::size_t j = 0; j < high; ++j) {
        const std::size_t row = (low + j) % w.ny;
        for (std::size_t f = 0; f < fields; ++f) {
            const double* const source = from.at(0, row) + f * from.field;
            double* const target = to.at(0, j) + f * to.field;
            for (std::size_t i = 0, at = left; i < wide; at = 0) {
                const std::size_t run = minimum(wide - i, w.nx - at);
                __builtin_memcpy(target + i, source + at, run * sizeof(double));
                i += run;
            }
        }
    }
}

/// Advance the cells of a tile, except the outermost ones, by one step.
inline void step_within(const Cells& from, const Cells& to, std::size_t wide, std::size_t high, double* room,
                        std::size_t max_wide) {
    Sides sides(room, max_wide);
    between_rows(from.at(1, 0), from.at(1, 1), from.field, wide - 2, sides.below, sides.apart);
    for (std::size_t y = 1; y + 1 < high; ++y) {
        between_rows(from.at(1, y), from.at(1, y + 1), from.field, wide - 2, sides.above, sides.apart);
        within_row(from.at(0, y), from.field, wide, sides.x, sides.apart);
        apply_fluxes(from.at(1, y), from.field, wide - 2, sides, to.at(0, y - 1), to.field);
        exchange(sides.below, sides.above);
    }
}

/// Advance one tile by some steps. Its border becomes narrower by one cell in each step.
inline void tile(const Gas& w, const Cells& from, const Cells& to, std::size_t x, std::size_t y,
                 std::size_t steps, double* room) {
    const std::size_t max_wide = w.wide + 2 * w.together;
    const std::size_t cells = assay::kernels::cells_of_tile(w.wide, w.high, w.together);
    std::size_t wide = minimum(w.wide, w.nx - x) + 2 * steps, high = minimum(w.high, w.ny - y) + 2 * steps;
    double* const rows = room + 3 * assay::kernels::sides(max_wide);
    Cells now{rows, max_wide, cells}, next{rows + fields * cells, max_wide, cells};
    fetch(w, from, x, y, steps, now, wide, high);
    for (std::size_t s = 0; s < steps; ++s, wide -= 2, high -= 2) {
        const bool last = s + 1 == steps;
        step_within(now, last ? Cells{to.at(x, y), to.row, to.field} : next, wide, high, room, max_wide);
        exchange(now.first, next.first);
    }
}

/// Do all steps, several in each pass: tiles are copied into a cache and advanced there.
inline void passes(const Gas& w) {
    const std::size_t along = w.nx ? (w.nx + w.wide - 1) / w.wide : 0;
    const std::size_t tiles = along * ((w.ny + w.high - 1) / w.high);
    std::size_t pass = 0;
    for (std::size_t t = 0; t < w.steps; t += w.together, ++pass) {
        const Cells from = before(w, pass), to = before(w, pass + 1);
#pragma omp parallel for schedule(static)
        for (std::size_t one = 0; one < tiles; ++one)
            tile(w, from, to, one % along * w.wide, one / along * w.high, minimum(w.together, w.steps - t),
                 w.rooms + thread() * w.room);
    }
    *w.found = pass % 2;
}

/// Return the cost if all fields are read and written once in each pass.
inline Cost passes_cost(const Gas& w) {
    const double cells = static_cast<double>(w.nx) * static_cast<double>(w.ny);
    const auto steps = static_cast<double>(w.steps);
    const auto all = static_cast<double>((w.steps + w.together - 1) / w.together);
    return {.flops = 124.0 * cells * steps,
            .special = 8.0 * cells * steps,
            .bytes = 64.0 * cells * all,
            .bytes_with_allocate = 96.0 * cells * all};
}

} // namespace
