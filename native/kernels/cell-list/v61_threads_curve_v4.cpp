// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/cell-list/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Box> threads_curve_v4{
    .id = "threads-curve-v4",
    .parent = "threads-v4",
    .why = "each thread with a part of the curve",
    .isa = Isa::v4,
    .broken = false,
    .run = curve_side_by_side<Eight>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_curve_v4);

} // namespace assay::kernels
