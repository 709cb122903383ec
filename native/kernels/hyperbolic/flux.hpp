#pragma once

/// Shared by variants for different processors. Everything here is local to the including file: of a function
/// with one definition per program, the linker might keep the version for a newer processor.

#include "kernels/hyperbolic/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Cost;
using assay::kernels::fields;
using assay::kernels::Gas;
using assay::kernels::ratio;

/// Fields of cells, where neighbours are `row` apart in y.
struct Cells {
    double* first;
    std::size_t row, field;

    [[nodiscard]] double* at(std::size_t x, std::size_t y) const { return first + x + y * row; }
};

/// State and fluxes of one cell in one direction: 16 operations, a division and a root.
struct Flow {
    double u[fields];    ///< Conserved quantities.
    double flux[fields]; ///< Their fluxes.
    double speed;        ///< Speed of the fastest wave.

    /// \param along index of the momentum in this direction.
    Flow(const double* cell, std::size_t field, std::size_t along) {
        for (std::size_t f = 0; f < fields; ++f) u[f] = cell[f * field];
        const double volume = 1.0 / u[0], velocity = u[along] * volume;
        const double pressure =
            (assay::kernels::gamma - 1.0) * (u[3] - 0.5 * (u[1] * u[1] + u[2] * u[2]) * volume);
        const double sound = __builtin_sqrt(assay::kernels::gamma * pressure * volume);
        flux[0] = u[along];
        flux[along] = u[along] * velocity + pressure;
        flux[3 - along] = u[3 - along] * velocity;
        flux[3] = (u[3] + pressure) * velocity;
        speed = __builtin_fabs(velocity) + sound;
    }
};

/// Compute the flux through the side between two cells: 52 operations, two divisions and two roots.
inline void through(const double* left, const double* right, std::size_t field, std::size_t along,
                    double* side, std::size_t apart) {
    const Flow l(left, field, along), r(right, field, along);
    const double speed = l.speed < r.speed ? r.speed : l.speed;
    for (std::size_t f = 0; f < fields; ++f)
        side[f * apart] = 0.5 * (l.flux[f] + r.flux[f] - speed * (r.u[f] - l.u[f]));
}

/// Return one field of a cell after a step: five operations.
inline double stepped_field(double before, double left, double right, double below, double above) {
    return before - ratio * ((right - left) + (above - below));
}

/// Space for the fluxes through the sides of a row.
struct Sides {
    double *x, *below, *above;
    std::size_t apart;

    Sides(double* room, std::size_t cells)
        : x(room), below(x + assay::kernels::sides(cells)), above(below + assay::kernels::sides(cells)),
          apart(cells + 1) {}
};

/// Compute the fluxes through the sides between two rows.
inline void between_rows(const double* below, const double* above, std::size_t field, std::size_t cells,
                         double* side, std::size_t apart) {
#pragma GCC ivdep
    for (std::size_t x = 0; x < cells; ++x) through(below + x, above + x, field, 2, side + x, apart);
}

/// Compute the fluxes through the sides within a row, beginning between its first two cells.
inline void within_row(const double* row, std::size_t field, std::size_t cells, double* side,
                       std::size_t apart) {
#pragma GCC ivdep
    for (std::size_t x = 1; x < cells; ++x) through(row + x - 1, row + x, field, 1, side + x - 1, apart);
}

/// Compute one row after a step from its fluxes.
inline void apply_fluxes(const double* from, std::size_t field, std::size_t cells, const Sides& sides,
                         double* to, std::size_t to_field) {
    for (std::size_t f = 0; f < fields; ++f) {
        const double* const before = from + f * field;
        double* const after = to + f * to_field;
        const double *const x = sides.x + f * sides.apart, *const below = sides.below + f * sides.apart,
                            *const above = sides.above + f * sides.apart;
#pragma GCC ivdep
        for (std::size_t i = 0; i < cells; ++i)
            after[i] = stepped_field(before[i], x[i], x[i + 1], below[i], above[i]);
    }
}

inline void exchange(double*& a, double*& b) {
    double* const before = a;
    a = b;
    b = before;
}

/// Return the fields of a whole grid.
inline Cells grid(const Gas& w, double* first) {
    return {first, w.nx, w.nx * w.ny};
}

/// Return the grid before step t, which is also the one after step t - 1.
inline Cells before(const Gas& w, std::size_t t) {
    return grid(w, t % 2 ? w.other : w.state);
}

/// Advance some rows of the grid by one step. Within these rows, the flux through each side is computed once.
inline void step_rows(const Gas& w, std::size_t t, std::size_t first, std::size_t last, double* room) {
    if (first >= last || w.nx == 0) return;
    const Cells from = before(w, t), to = before(w, t + 1);
    Sides sides(room, w.nx);
    const std::size_t field = from.field, nx = w.nx;
    between_rows(from.at(0, (first + w.ny - 1) % w.ny), from.at(0, first), field, nx, sides.below,
                 sides.apart);
    for (std::size_t y = first; y < last; ++y) {
        const double* const row = from.at(0, y);
        between_rows(row, from.at(0, (y + 1) % w.ny), field, nx, sides.above, sides.apart);
        within_row(row, field, nx, sides.x + 1, sides.apart);
        through(row + nx - 1, row, field, 1, sides.x, sides.apart);
        for (std::size_t f = 0; f < fields; ++f) sides.x[nx + f * sides.apart] = sides.x[f * sides.apart];
        apply_fluxes(row, field, nx, sides, to.at(0, y), to.field);
        exchange(sides.below, sides.above);
    }
}

inline void whole_steps(const Gas& w) {
    for (std::size_t t = 0; t < w.steps; ++t) step_rows(w, t, 0, w.ny, w.rooms);
    *w.found = w.steps % 2;
}

} // namespace
