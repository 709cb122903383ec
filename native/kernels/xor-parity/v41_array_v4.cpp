// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> array_v4{
    .id = "array-avx512",
    .parent = "array-avx2",
    .why = "64 bytes in one instruction, and three operands in one XOR",
    .isa = Isa::v4,
    .broken = false,
    .run = one_after_the_other<at_once<Zmm, false>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(array_v4);

} // namespace assay::kernels
