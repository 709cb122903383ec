// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/masked-exp/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = ASSAY_ID("lib-sleef"),
    .parent = ASSAY_ID("lib-mvec-skip"),
    .why = "the vector functions of SLEEF, within one unit in the last place",
    .isa = compiled_for,
    .run = by_sleef<Simd, true>,
    .missing = no_sleef,
    .library = sleef_version,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
