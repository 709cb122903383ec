// build: -O3
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> variant{
    .id = "right",
    .parent = "",
    .why = "each node is taken out of all that depend on it as soon as it is done",
    .run = right_looking<Plain>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
