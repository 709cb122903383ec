// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/integral-tiles/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Contraction> variant{
    .id = ASSAY_ID("lanes"),
    .parent = ASSAY_AVX2("tiles") ASSAY_AVX512("lanes-avx2"),
    .why =
        ASSAY_AVX2("four integrals of a row at a time, for both matrices") ASSAY_AVX512("vectors of eight"),
    .isa = compiled_for,
    .run = tile_by_tile<InLanes<Doubles>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
