// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/state-vector/groups.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> variant{
    .id = ASSAY_ID("lanes"),
    .parent = ASSAY_AVX2("groups") ASSAY_AVX512("lanes-avx2"),
    .why = ASSAY_AVX2("the compiler vectorises, four amplitudes at once") ASSAY_AVX512("vectors of eight"),
    .isa = compiled_for,
    .run = group_by_group,
    .cost = grouped_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
