// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> threads_v4{
    .id = "threads-v4",
    .parent = "recursive-v4",
    .why = "all threads, which wait while one of them factors a panel",
    .isa = Isa::v4,
    .broken = false,
    .run = step_by_step<Way<Eight>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
