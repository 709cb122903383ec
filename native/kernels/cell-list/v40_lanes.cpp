// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/cell-list/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Box> variant{
    .id = ASSAY_ID("lanes"),
    .parent = ASSAY_AVX2("rows") ASSAY_AVX512("lanes-avx2"),
    .why =
        ASSAY_AVX2("all particles of a cell at a time, in vectors of four") ASSAY_AVX512("vectors of eight"),
    .isa = compiled_for,
    .run = rows_in_lanes<Doubles>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
