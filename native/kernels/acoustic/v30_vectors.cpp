// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> variant{
    .id = ASSAY_ID("vectors"),
    .parent = ASSAY_AVX2("rows") ASSAY_AVX512("vectors-avx2"),
    .why = ASSAY_AVX2(
        "the compiler vectorises, eight cells at once: a pragma states that written cells are not read")
        ASSAY_AVX512("sixteen cells at once"),
    .isa = compiled_for,
    .run = row_by_row,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
