// build: -O2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = "fused-o2",
    .parent = "fused-o0",
    .why = "optimised, without vectors",
    .run = fused<std::int32_t, squared>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
