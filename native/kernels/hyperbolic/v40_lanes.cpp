// build: -O3 -ffp-contract=fast -fno-math-errno
// for: avx2 avx512
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> variant{
    .id = ASSAY_ID("lanes"),
    .parent = ASSAY_AVX2("once") ASSAY_AVX512("lanes-avx2"),
    .why = ASSAY_AVX2("the compiler vectorises, four cells at once") ASSAY_AVX512("vectors of eight"),
    .isa = compiled_for,
    .run = whole_steps,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
