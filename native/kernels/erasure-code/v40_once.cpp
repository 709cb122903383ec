// build: -O3
// for: avx2 avx512
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Code> variant{
    .id = ASSAY_ID("once"),
    .parent = ASSAY_AVX2(ASSAY_ID("nibbles")) ASSAY_AVX512("once-avx2"),
    .why = ASSAY_AVX2("all three parities in one pass over the data")
        ASSAY_AVX512("64 products at once, and three operands in one XOR"),
    .isa = compiled_for,
    .run = all_at_once<Register>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
