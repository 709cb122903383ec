// build: -O3
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> right{
    .id = "right",
    .parent = nullptr,
    .why = "each node is taken out of all that depend on it as soon as it is done",
    .isa = Isa::any,
    .broken = false,
    .run = right_looking<Plain>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(right);

} // namespace assay::kernels
