// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/cell-list/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Box> threads_curve_v3{
    .id = "threads-curve-v3",
    .parent = "threads-v3",
    .why = "each thread with a part of the curve",
    .isa = Isa::v3,
    .broken = false,
    .run = curve_side_by_side<Four>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_curve_v3);

} // namespace assay::kernels
