// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Counting> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("fma"),
    .why = "all threads",
    .isa = compiled_for,
    .run = count_together<sizeof(Doubles)>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
