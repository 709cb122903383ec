// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/state-vector/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> threads_v4{
    .id = "threads-v4",
    .parent = "lanes-v4",
    .why = "all threads, each with its own blocks and runs",
    .isa = Isa::v4,
    .broken = false,
    .run = groups_side_by_side,
    .missing = nullptr,
    .cost = grouped_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
