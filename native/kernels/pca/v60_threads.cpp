// build: -O3 -ffp-contract=fast -fno-math-errno -fopenmp
// for: avx2 avx512
#include "kernels/pca/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("ahead"),
    .why = "all threads, each with sums of its own",
    .isa = compiled_for,
    .run = side_by_side<Doubles>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
