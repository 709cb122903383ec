// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("fused"),
    .parent = ASSAY_AVX2(ASSAY_ID("blocked")) ASSAY_AVX512("fused-avx2"),
    .why = ASSAY_AVX2("eight vectors at once: an element of x is read and written once for all eight")
        ASSAY_AVX512("eight elements in one instruction"),
    .isa = compiled_for,
    .run = by_chunks<Chunk<Doubles, 8>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
