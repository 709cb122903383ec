// build: -O3
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = "fused-o3",
    .parent = "fused-o2",
    .why = "all optimisations, for any processor: SSE2",
    .run = fused<std::int32_t, squared>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
