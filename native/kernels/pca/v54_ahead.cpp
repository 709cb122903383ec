// build: -O3 -ffp-contract=fast -fno-math-errno -fopenmp
// for: avx2 avx512
#include "kernels/pca/strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> variant{
    .id = ASSAY_ID("ahead"),
    .parent = ASSAY_ID("registers"),
    .why = "the next block is fetched while sums of this one are formed",
    .isa = compiled_for,
    .run = in_registers<Doubles, true>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
