// build: -O2
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

void run(const Gas& w) {
    for (std::size_t t = 0; t < w.steps; ++t) {
        step_rows(w, t, 0, w.ny - 1, w.rooms);
        for (std::size_t f = 0; f < fields; ++f)
            for (std::size_t x = 0; x < w.nx; ++x)
                before(w, t + 1).at(x, w.ny - 1)[f * w.nx * w.ny] =
                    before(w, t).at(x, w.ny - 1)[f * w.nx * w.ny];
    }
    *w.found = w.steps % 2;
}

constexpr Variant<Gas> variant{
    .id = "broken-tail",
    .parent = "once",
    .why = "wrong on purpose: the last row is unchanged",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
