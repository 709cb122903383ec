// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/horner/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> variant{
    .id = ASSAY_ID("chains"),
    .parent = ASSAY_ID("vectors"),
    .why = ASSAY_AVX2("eight chains side by side: no multiply-add waits for the one before it")
        ASSAY_AVX512("twelve chains side by side: no multiply-add waits for the one before it"),
    .isa = compiled_for,
    .run = serially<Doubles, chains_in_registers>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
