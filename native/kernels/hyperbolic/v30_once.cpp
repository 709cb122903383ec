// build: -O2 -fno-tree-vectorize
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> variant{
    .id = "once",
    .parent = "fused",
    .why = "what flows through a side is worked out once, and kept for the cell behind it",
    .run = whole_steps,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
