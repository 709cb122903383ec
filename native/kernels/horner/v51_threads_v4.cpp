// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/horner/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> threads_v4{
    .id = "threads-v4",
    .parent = "chains-v4",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<Eight, 15>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
