// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/masked-exp/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = ASSAY_ID("lib-mvec-skip"),
    .parent = ASSAY_ID("lib-mvec"),
    .why = "no call for an empty mask",
    .isa = compiled_for,
    .run = by_libmvec<Simd, true>,
    .missing = no_libmvec,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
