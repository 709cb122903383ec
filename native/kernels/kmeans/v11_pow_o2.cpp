// build: -O2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> pow_o2{
    .id = "pow-o2",
    .parent = "pow-o0",
    .why = "optimised: pow(x, 2) becomes a multiplication, in double precision",
    .isa = Isa::any,
    .broken = false,
    .run = fused<std::int32_t, squared_by_pow>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pow_o2);

} // namespace assay::kernels
