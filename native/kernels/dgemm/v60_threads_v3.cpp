// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/dgemm/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> threads_v3{
    .id = "threads-v3",
    .parent = "prefetch-v3",
    .why = "all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<InRegisters<Four, 2, 6, 2, true>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
