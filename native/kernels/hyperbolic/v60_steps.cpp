// build: -O3 -ffp-contract=fast -fno-math-errno -fopenmp
// for: avx2 avx512
#include "kernels/hyperbolic/passes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> variant{
    .id = ASSAY_ID("steps"),
    .parent = ASSAY_ID("threads"),
    .why = "several steps in one pass over memory, tile by tile in a cache; the border of each tile is "
           "computed again",
    .isa = compiled_for,
    .run = passes,
    .cost = passes_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
