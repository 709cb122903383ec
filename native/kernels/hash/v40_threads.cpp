// build: -O3 -fopenmp -fno-exceptions -fno-tree-reassoc
// for: avx2 avx512
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("lanes"),
    .why = "all threads",
    .isa = compiled_for,
    .run = side_by_side<U32s, U64s>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
