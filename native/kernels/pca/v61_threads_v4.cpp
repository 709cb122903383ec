// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/pca/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> threads_v4{
    .id = "threads-v4",
    .parent = "ahead-v4",
    .why = "all threads, each with sums of its own",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<Eight>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
