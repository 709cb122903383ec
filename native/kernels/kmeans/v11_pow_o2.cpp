// build: -O2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = "pow-o2",
    .parent = "pow-o0",
    .why = "optimised: pow(x, 2) becomes a multiplication, in double precision",
    .run = fused<std::int32_t, squared_by_pow>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
