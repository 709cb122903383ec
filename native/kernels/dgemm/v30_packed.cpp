// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/dgemm/blocked.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> variant{
    .id = ASSAY_ID("packed"),
    .parent = ASSAY_AVX2("tiled") ASSAY_AVX512("packed-avx2"),
    .why = ASSAY_AVX2(
        "both tiles are packed into strips and read in order; four elements in one instruction, C in memory")
        ASSAY_AVX512("eight elements in one instruction, 8 by 28 of C at once, still in memory"),
    .isa = compiled_for,
    .run = serially<InMemory<Doubles, ASSAY_AVX2(2, 6, 2) ASSAY_AVX512(1, 28, 7)>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
