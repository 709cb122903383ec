// build: -O3 -fno-tree-reassoc
// for: avx2 avx512
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> variant{
    .id = ASSAY_ID("lanes"),
    .parent = ASSAY_AVX2("one") ASSAY_AVX512("lanes-avx2"),
    .why = ASSAY_AVX2("eight messages in the lanes of a vector, four with 64-bit words")
        ASSAY_AVX512("twice as many lanes, rotations and functions of three operands in one instruction"),
    .isa = compiled_for,
    .run = all<U32s, U64s>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
