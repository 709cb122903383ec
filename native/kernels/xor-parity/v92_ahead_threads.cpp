// build: -O3 -fopenmp -fno-exceptions
// for: avx512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = ASSAY_ID("ahead-threads"),
    .parent = ASSAY_ID("ahead"),
    .why = "all threads",
    .isa = compiled_for,
    .run = side_by_side<squares<Zmm, true>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
