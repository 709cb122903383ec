// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("blocks"),
    .parent = ASSAY_AVX2(ASSAY_ID("arrays")) ASSAY_AVX512("blocks-avx2"),
    .why = ASSAY_AVX2(
        "blocks of 64 points and one centre: eight points in one instruction, no reduction over lanes")
        ASSAY_AVX512("sixteen points in one instruction"),
    .isa = compiled_for,
    .run = by_blocks,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
