// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/cell-list/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Box> threads_v3{
    .id = "threads-v3",
    .parent = "lanes-v3",
    .why = "all threads, each with its own rows of cells",
    .isa = Isa::v3,
    .broken = false,
    .run = rows_side_by_side<Four>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
