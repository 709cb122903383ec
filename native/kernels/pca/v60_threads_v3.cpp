// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/pca/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> threads_v3{
    .id = "threads-v3",
    .parent = "ahead-v3",
    .why = "all threads, each with sums of its own",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<Four>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
