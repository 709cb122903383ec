// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = ASSAY_ID("own-skip"),
    .parent = ASSAY_ID("own"),
    .why = "no computation for an empty mask",
    .isa = compiled_for,
    .run = own<Simd, true>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
