// build: -O0
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = "pow-o0",
    .parent = "",
    .why = "one loop as in the article, squares by pow(), not optimised",
    .run = fused<std::int32_t, squared_by_pow>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
