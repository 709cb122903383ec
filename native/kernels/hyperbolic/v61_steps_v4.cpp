// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/hyperbolic/passes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> steps_v4{
    .id = "steps-v4",
    .parent = "threads-v4",
    .why = "several steps in one pass over memory, tile by tile in a cache, with what is around each tile "
           "worked out anew",
    .isa = Isa::v4,
    .broken = false,
    .run = passes,
    .missing = nullptr,
    .cost = passes_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(steps_v4);

} // namespace assay::kernels
