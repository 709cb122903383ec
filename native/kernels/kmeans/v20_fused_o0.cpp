// build: -O0
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> fused_o0{
    .id = "fused-o0",
    .parent = "pow-o0",
    .why = "squares by x * x, in single precision",
    .isa = Isa::any,
    .broken = false,
    .run = fused<std::int32_t, squared>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fused_o0);

} // namespace assay::kernels
