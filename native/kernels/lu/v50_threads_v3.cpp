// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> threads_v3{
    .id = "threads-v3",
    .parent = "recursive-v3",
    .why = "all threads, which wait while one of them factors a panel",
    .isa = Isa::v3,
    .broken = false,
    .run = step_by_step<Way<Four>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
