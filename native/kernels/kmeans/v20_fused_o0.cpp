// build: -O0
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = "fused-o0",
    .parent = "pow-o0",
    .why = "squares by x * x, in single precision",
    .run = fused<std::int32_t, squared>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
