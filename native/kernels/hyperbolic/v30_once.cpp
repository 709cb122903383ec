// build: -O2 -fno-tree-vectorize
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> variant{
    .id = "once",
    .parent = "fused",
    .why = "each flux is computed once and reused by the next cell",
    .run = whole_steps,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
