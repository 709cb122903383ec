// build: -O3
// for: avx2 avx512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = ASSAY_ID("array"),
    .parent = ASSAY_AVX2(ASSAY_ID("pairs")) ASSAY_AVX512("array-avx2"),
    .why = ASSAY_AVX2(
        "an array of pointers: all disks are combined in registers, and the parity is written once")
        ASSAY_AVX512("64 bytes in one instruction, and three operands in one XOR"),
    .isa = compiled_for,
    .run = one_after_the_other<at_once<Register, false>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
