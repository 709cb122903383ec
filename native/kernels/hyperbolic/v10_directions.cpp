// build: -O3
#include "kernels/hyperbolic/cells.hpp"

namespace assay::kernels {

namespace {

void run(const Gas& w) {
    for (std::size_t t = 0; t < w.steps; ++t) {
        const Cells from = before(w, t), to = before(w, t + 1);
        for (std::size_t y = 0; y < w.ny; ++y)
            for (std::size_t x = 0; x < w.nx; ++x) {
                const Outflow flow = in_x(w, from, x, y);
                for (std::size_t f = 0; f < fields; ++f)
                    to.at(x, y)[f * to.field] = from.at(x, y)[f * from.field] - ratio * flow.out[f];
            }
        for (std::size_t y = 0; y < w.ny; ++y)
            for (std::size_t x = 0; x < w.nx; ++x) {
                const Outflow flow = in_y(w, from, x, y);
                for (std::size_t f = 0; f < fields; ++f) to.at(x, y)[f * to.field] -= ratio * flow.out[f];
            }
    }
    *w.found = w.steps % 2;
}

constexpr Variant<Gas> variant{
    .id = "directions",
    .parent = "",
    .why = "cell by cell, computing the fluxes through all of its sides; first in x, then in y: two passes "
           "for each step",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
