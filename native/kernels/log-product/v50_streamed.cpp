// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> variant{
    .id = ASSAY_ID("streamed"),
    .parent = ASSAY_ID("own"),
    .why = "results are stored past the caches, so that their lines are not read first",
    .isa = compiled_for,
    .run = own<Simd, true>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
