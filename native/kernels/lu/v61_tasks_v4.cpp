// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> tasks_v4{
    .id = "tasks-v4",
    .parent = "threads-v4",
    .why = "a task for each panel and for each block of columns beside it: the next panel is factored "
           "while the rest is updated",
    .isa = Isa::v4,
    .broken = false,
    .run = by_tasks<Way<Eight>, InPlace>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(tasks_v4);

} // namespace assay::kernels
