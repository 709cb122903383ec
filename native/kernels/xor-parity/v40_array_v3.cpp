// build: -O3 -march=x86-64-v3
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> array_v3{
    .id = "array-avx2",
    .parent = "pairs-avx2",
    .why = "an array of pointers: all disks are combined in registers, and the parity is written once",
    .isa = Isa::v3,
    .broken = false,
    .run = one_after_the_other<at_once<Ymm, false>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(array_v3);

} // namespace assay::kernels
