// build: -O2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> fused_o2{
    .id = "fused-o2",
    .parent = "fused-o0",
    .why = "optimised, without vectors",
    .isa = Isa::any,
    .broken = false,
    .run = fused<std::int32_t, squared>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fused_o2);

} // namespace assay::kernels
