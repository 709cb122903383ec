// build: -O3 -ffp-contract=fast -ffast-math
// for: avx2 avx512
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("arrays"),
    .parent = ASSAY_AVX2(ASSAY_ID("split-fast")) ASSAY_AVX512("arrays-avx2"),
    .why = ASSAY_AVX2("centres as a structure of arrays: one load of each colour for eight centres")
        ASSAY_AVX512("sixteen centres in one instruction"),
    .isa = compiled_for,
    .run = by_colour,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
