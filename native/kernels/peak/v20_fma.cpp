// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

void run(const Counting& work) {
    *work.sum = count<sizeof(Doubles)>(work, work.n);
}

constexpr Variant<Counting> variant{
    .id = ASSAY_ID("fma"),
    .parent = ASSAY_AVX2("sse") ASSAY_AVX512("fma-avx2"),
    .why = ASSAY_AVX2("four elements in one instruction, fused multiply-add")
        ASSAY_AVX512("eight elements in one instruction"),
    .isa = compiled_for,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
