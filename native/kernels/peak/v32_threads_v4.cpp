// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Counting> threads_v4{
    .id = "threads-v4",
    .parent = "fma-v4",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = count_together<64>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
