// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/passes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> steps_v3{
    .id = "steps-v3",
    .parent = "fetched-v3",
    .why = "several steps in one pass over memory, each following the one before it within a cache",
    .isa = Isa::v3,
    .broken = false,
    .run = passes<Tile<Eight, 1, 4, ByLoads, true>>,
    .missing = nullptr,
    .cost = passes_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(steps_v3);

} // namespace assay::kernels
