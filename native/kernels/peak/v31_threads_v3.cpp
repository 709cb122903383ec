// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Counting> threads_v3{
    .id = "threads-v3",
    .parent = "fma-v3",
    .why = "all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = count_together<32>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
