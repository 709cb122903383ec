// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/state-vector/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> threads_v3{
    .id = "threads-v3",
    .parent = "lanes-v3",
    .why = "all threads, each with its own blocks and runs",
    .isa = Isa::v3,
    .broken = false,
    .run = groups_side_by_side,
    .missing = nullptr,
    .cost = grouped_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
