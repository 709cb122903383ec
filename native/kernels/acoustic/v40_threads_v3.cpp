// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> threads_v3{
    .id = "threads-v3",
    .parent = "vectors-v3",
    .why = "all threads, each with a part of the rows",
    .isa = Isa::v3,
    .broken = false,
    .run = rows_side_by_side,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
