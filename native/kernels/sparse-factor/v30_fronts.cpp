// build: -O3
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> fronts{
    .id = "fronts",
    .parent = "left",
    .why = "what a node takes out of those above it goes by way of its parent, so that L is written once and "
           "not read",
    .isa = Isa::any,
    .broken = false,
    .run = multifrontal<Plain>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fronts);

} // namespace assay::kernels
