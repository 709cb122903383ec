// build: -O3
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> fused_o3{
    .id = "fused-o3",
    .parent = "fused-o2",
    .why = "all optimisations, for any processor: SSE2",
    .isa = Isa::any,
    .broken = false,
    .run = fused<std::int32_t, squared>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fused_o3);

} // namespace assay::kernels
