// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/hyperbolic/passes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> steps_v3{
    .id = "steps-v3",
    .parent = "threads-v3",
    .why = "several steps in one pass over memory, tile by tile in a cache, with what is around each tile "
           "worked out anew",
    .isa = Isa::v3,
    .broken = false,
    .run = passes,
    .missing = nullptr,
    .cost = passes_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(steps_v3);

} // namespace assay::kernels
