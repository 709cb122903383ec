// build: -O3 -ffp-contract=fast -ffast-math
// for: avx2 avx512
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("split-fast"),
    .parent = ASSAY_AVX2(ASSAY_ID("split-o3")) ASSAY_AVX512("split-fast-avx2"),
    .why = ASSAY_AVX2("rounding and order may change, so that the minimum needs no order")
        ASSAY_AVX512("vectors of AVX-512"),
    .isa = compiled_for,
    .run = split,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
