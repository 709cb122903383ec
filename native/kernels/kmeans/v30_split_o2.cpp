// build: -O2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> split_o2{
    .id = "split-o2",
    .parent = "fused-o2",
    .why = "three loops: distances, minimum, index",
    .isa = Isa::any,
    .broken = false,
    .run = split,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(split_o2);

} // namespace assay::kernels
