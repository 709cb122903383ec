// build: -O3 -fno-tree-reassoc
// for: avx2 avx512
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = ASSAY_ID("lanes"),
    .parent = "one",
    .why =
        ASSAY_AVX2("all waiting chunks, eight at most, in the lanes of vectors: empty lanes do useless work")
            ASSAY_AVX512(
                "all waiting chunks, sixteen at most, in the lanes of vectors: empty lanes do useless work"),
    .isa = compiled_for,
    .run = consume<OwnLanes<U32s, U64s>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
