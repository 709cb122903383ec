// build: -O0
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> pow_o0{
    .id = "pow-o0",
    .parent = nullptr,
    .why = "one loop as the article has it, squares by pow(), not optimised",
    .isa = Isa::any,
    .broken = false,
    .run = fused<std::int32_t, squared_by_pow>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pow_o0);

} // namespace assay::kernels
