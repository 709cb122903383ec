// build: -O3 -ffp-contract=fast -fopenmp -fno-exceptions
// for: avx2 avx512
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> variant{
    .id = ASSAY_ID("threads-streamed"),
    .parent = ASSAY_ID("streamed"),
    .why = "all threads, past the caches",
    .isa = compiled_for,
    .run = side_by_side<Simd, true>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
