// build: -O3 -march=x86-64-v3
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> pairs_v3{
    .id = "pairs-avx2",
    .parent = "words",
    .why = "32 bytes in one instruction, the parity still read and written for each disk",
    .isa = Isa::v3,
    .broken = false,
    .run = one_after_the_other<in_pairs<Ymm>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pairs_v3);

} // namespace assay::kernels
