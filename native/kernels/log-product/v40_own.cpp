// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> variant{
    .id = ASSAY_ID("own"),
    .parent = ASSAY_ID("lib-mvec"),
    .why = ASSAY_AVX2("own logarithm by artanh instead of the calls: two of them overlap") ASSAY_AVX512(
        "own logarithm by a table of 16 intervals in registers instead of the calls: two of them overlap"),
    .isa = compiled_for,
    .run = own<Simd, false>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
