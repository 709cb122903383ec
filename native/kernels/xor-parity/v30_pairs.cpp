// build: -O3
// for: avx2
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = ASSAY_ID("pairs"),
    .parent = "words",
    .why = "32 bytes in one instruction, the parity still read and written for each disk",
    .isa = compiled_for,
    .run = one_after_the_other<in_pairs<Ymm>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
