// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/log-product/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> variant{
    .id = ASSAY_ID("lib-sleef"),
    .parent = ASSAY_ID("lib-mvec"),
    .why = "the vector function of SLEEF, within one unit in the last place",
    .isa = compiled_for,
    .run = by_sleef<Simd>,
    .missing = sleef_missing,
    .library = sleef_version,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
