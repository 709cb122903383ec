// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> tasks_v3{
    .id = "tasks-v3",
    .parent = "threads-v3",
    .why = "a task for each panel and for each block of columns beside it: the next panel is factored "
           "while the rest is updated",
    .isa = Isa::v3,
    .broken = false,
    .run = by_tasks<Way<Four>, InPlace>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(tasks_v3);

} // namespace assay::kernels
