// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/horner/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> variant{
    .id = ASSAY_ID("vectors"),
    .parent = ASSAY_AVX2("horner") ASSAY_AVX512("vectors-avx2"),
    .why = ASSAY_AVX2("four elements in one instruction, fused multiply-add")
        ASSAY_AVX512("eight elements in one instruction"),
    .isa = compiled_for,
    .run = serially<Doubles, 1>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
