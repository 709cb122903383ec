// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/dgemm/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("prefetch"),
    .why = "all threads",
    .isa = compiled_for,
    .run = side_by_side<InRegisters<Doubles, ASSAY_AVX2(2, 6, 2) ASSAY_AVX512(1, 28, 7), true>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
