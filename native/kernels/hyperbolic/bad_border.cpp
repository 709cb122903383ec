// build: -O2
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

void run(const Gas& w) {
    for (std::size_t t = 0; t < w.steps; ++t) {
        step_rows(w, t, 0, w.ny, w.rooms);
        const Cells from = before(w, t), to = before(w, t + 1);
        for (std::size_t y = 0; y < w.ny; ++y) {
            double side[fields];
            through(from.at(w.nx - 1, y), from.at(0, y), from.field, 1, side, 1);
            for (std::size_t f = 0; f < fields; ++f) {
                to.at(0, y)[f * to.field] -= ratio * side[f];
                to.at(w.nx - 1, y)[f * to.field] += ratio * side[f];
            }
        }
    }
    *w.found = w.steps % 2;
}

constexpr Variant<Gas> variant{
    .id = "broken-border",
    .parent = "once",
    .why = "wrong on purpose: no flux from the last cell of a row to the first",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
