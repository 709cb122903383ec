// build: -O3 -march=x86-64-v3 -ffp-contract=fast -ffast-math
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> split_fast{
    .id = "split-fast",
    .parent = "split-o3",
    .why = "rounding and order may change, so that the minimum needs no order",
    .isa = Isa::v3,
    .broken = false,
    .run = split,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(split_fast);

} // namespace assay::kernels
