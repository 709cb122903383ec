// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/log-product/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> variant{
    .id = ASSAY_ID("lib-mvec"),
    .parent = ASSAY_AVX2("scalar-o3") ASSAY_AVX512("lib-mvec-avx2"),
    .why = ASSAY_AVX2("four elements by the C library's vector function, which -ffast-math would call")
        ASSAY_AVX512("eight elements by the C library's vector function, which -ffast-math would call"),
    .isa = compiled_for,
    .run = by_libmvec<Simd>,
    .missing = libmvec_missing,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
