// build: -O3 -fopenmp -fno-exceptions
// for: avx2 avx512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("stream"),
    .why = "all threads",
    .isa = compiled_for,
    .run = side_by_side<both_past_caches<Register>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
