// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/dgemm/blocked.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> variant{
    .id = ASSAY_ID("prefetch"),
    .parent = ASSAY_ID("registers"),
    .why = "software prefetch of both strips, and of C before the steps begin",
    .isa = compiled_for,
    .run = serially<InRegisters<Doubles, ASSAY_AVX2(2, 6, 2) ASSAY_AVX512(1, 28, 7), true>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
