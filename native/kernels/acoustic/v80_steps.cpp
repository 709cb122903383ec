// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/acoustic/passes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> variant{
    .id = ASSAY_ID("steps"),
    .parent = ASSAY_ID("fetched"),
    .why = "several steps in one pass over memory, each following the one before it within a cache",
    .isa = compiled_for,
    .run = passes<Tile<Floats, 1, ASSAY_AVX2(4, ByLoads) ASSAY_AVX512(2, ByShifts), true>>,
    .cost = passes_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
