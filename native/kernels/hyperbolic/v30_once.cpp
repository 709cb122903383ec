// build: -O2 -fno-tree-vectorize
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> once{
    .id = "once",
    .parent = "fused",
    .why = "what flows through a side is worked out once, and kept for the cell behind it",
    .isa = Isa::any,
    .broken = false,
    .run = whole_steps,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(once);

} // namespace assay::kernels
