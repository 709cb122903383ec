// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -fno-tree-reassoc
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> lanes_v4{
    .id = "lanes-avx512",
    .parent = "lanes-avx2",
    .why = "twice as many lanes, rotations and functions of three operands in one instruction",
    .isa = Isa::v4,
    .broken = false,
    .run = all<Short16, Long8>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v4);

} // namespace assay::kernels
