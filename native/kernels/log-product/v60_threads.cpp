// build: -O3 -ffp-contract=fast -fopenmp -fno-exceptions
// for: avx2 avx512
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("own"),
    .why = "all threads",
    .isa = compiled_for,
    .run = side_by_side<Simd, false>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
