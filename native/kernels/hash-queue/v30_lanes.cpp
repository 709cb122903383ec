// build: -O3 -fno-tree-reassoc
// for: avx2 avx512
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = ASSAY_ID("lanes"),
    .parent = "one",
    .why =
        ASSAY_AVX2("all that wait at a time, eight at most, in the lanes of vectors: lanes without a chunk "
                   "work for nothing") ASSAY_AVX512("all that wait at a time, sixteen at most, in the lanes "
                                                    "of vectors: lanes without a chunk work for nothing"),
    .isa = compiled_for,
    .run = consume<OwnLanes<U32s, U64s>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
