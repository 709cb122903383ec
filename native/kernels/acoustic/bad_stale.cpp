// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2
#include "kernels/acoustic/passes.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    Wave two = w;
    two.together = 2;
    two.band = w.ny;
    passes<Tile<Float8, 1, 1, ByLoads, false>, radius / 2>(two);
}

constexpr Variant<Wave> variant{
    .id = "broken-stale",
    .parent = "rows",
    .why =
        "wrong on purpose: a step in the same pass follows the previous one at half the reach of neighbours",
    .isa = compiled_for,
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
