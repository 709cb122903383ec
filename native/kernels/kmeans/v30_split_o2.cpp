// build: -O2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = "split-o2",
    .parent = "fused-o2",
    .why = "three loops: distances, minimum, index",
    .run = split,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
