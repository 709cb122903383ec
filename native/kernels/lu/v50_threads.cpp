// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("recursive"),
    .why = "all threads, which wait while one of them factors a panel",
    .isa = compiled_for,
    .run = step_by_step<Way<Doubles>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
