// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/passes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> steps_v4{
    .id = "steps-v4",
    .parent = "fetched-v4",
    .why = "several steps in one pass over memory, each following the one before it within a cache",
    .isa = Isa::v4,
    .broken = false,
    .run = passes<Tile<Sixteen, 1, 2, ByShifts, true>>,
    .missing = nullptr,
    .cost = passes_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(steps_v4);

} // namespace assay::kernels
