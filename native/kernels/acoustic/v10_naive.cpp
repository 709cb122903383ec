// build: -O2 -fno-tree-vectorize
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    for (std::ptrdiff_t t = 0; t < w.steps; ++t)
        for (std::ptrdiff_t y = 0; y < w.ny; ++y)
            for (std::ptrdiff_t z = 0; z < w.nz; ++z) step_row(w, Step(w, t), y, z, w.nx);
}

constexpr Variant<Wave> variant{
    .id = "naive",
    .parent = "",
    .why = "one cell at a time; a row is advanced through all planes before the next row",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
