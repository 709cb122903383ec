// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/bandwidth/move.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    move_all(work);
}

constexpr Variant<Streams> variant{
    .id = ASSAY_ID("vector"),
    .parent = ASSAY_AVX2("plain") ASSAY_AVX512("vector-avx2"),
    .why = ASSAY_AVX2("four elements in one instruction") ASSAY_AVX512("eight elements in one instruction"),
    .isa = compiled_for,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
