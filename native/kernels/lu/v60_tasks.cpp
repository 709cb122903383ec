// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = ASSAY_ID("tasks"),
    .parent = ASSAY_ID("threads"),
    .why = "a task for each panel and for each block of columns beside it: the next panel is factored while "
           "the rest is updated",
    .isa = compiled_for,
    .run = by_tasks<Way<Doubles>, InPlace>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
