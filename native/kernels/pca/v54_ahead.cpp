// build: -O3 -ffp-contract=fast -fno-math-errno -fopenmp
// for: avx2 avx512
#include "kernels/pca/strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> variant{
    .id = ASSAY_ID("ahead"),
    .parent = ASSAY_ID("registers"),
    .why = "prefetches the next block while it sums this one",
    .isa = compiled_for,
    .run = in_registers<Doubles, true>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
