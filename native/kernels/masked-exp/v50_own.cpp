// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = ASSAY_ID("own"),
    .parent = ASSAY_ID("lib-mvec"),
    .why = ASSAY_AVX2("own inline functions: exp is a polynomial of degree 11")
        ASSAY_AVX512("own inline functions: exp has 16 powers in two registers and a polynomial of degree 6"),
    .isa = compiled_for,
    .run = own<Simd, false>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
