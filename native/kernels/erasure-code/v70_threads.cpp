// build: -O3 -fopenmp -fno-exceptions
// for: avx2
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Code> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("stream"),
    .why = "all threads",
    .isa = compiled_for,
    .run = side_by_side<Ymm>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
