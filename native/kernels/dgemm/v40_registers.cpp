// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/dgemm/blocked.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> variant{
    .id = ASSAY_ID("registers"),
    .parent = ASSAY_ID("packed"),
    .why = ASSAY_AVX2("8 by 6 elements of C stay in 12 of the 16 vector registers for all steps")
        ASSAY_AVX512("8 by 28 elements of C stay in 28 of the 32 vector registers for all steps"),
    .isa = compiled_for,
    .run = serially<InRegisters<Doubles, ASSAY_AVX2(2, 6, 2) ASSAY_AVX512(1, 28, 7)>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
