// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/state-vector/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("lanes"),
    .why = "all threads, each with its own blocks and runs",
    .isa = compiled_for,
    .run = groups_side_by_side,
    .cost = grouped_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
