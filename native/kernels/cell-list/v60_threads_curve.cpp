// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/cell-list/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Box> variant{
    .id = ASSAY_ID("threads-curve"),
    .parent = ASSAY_ID("threads"),
    .why = "each thread with a part of the curve",
    .isa = compiled_for,
    .run = curve_side_by_side<Doubles>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
