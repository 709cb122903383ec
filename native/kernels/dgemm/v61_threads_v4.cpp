// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/dgemm/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> threads_v4{
    .id = "threads-v4",
    .parent = "prefetch-v4",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<InRegisters<Eight, 1, 28, 7, true>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
