// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/masked-exp/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = ASSAY_ID("lib-mvec"),
    .parent = ASSAY_AVX2("scalar") ASSAY_AVX512("lib-mvec-avx2"),
    .why = ASSAY_AVX2("four elements by the C library's vector function; masked elements are replaced before "
                      "and discarded after")
        ASSAY_AVX512("eight elements by the C library's vector function; masked elements are replaced before "
                     "and discarded after"),
    .isa = compiled_for,
    .run = by_libmvec<Simd, false>,
    .missing = no_libmvec,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
