// build: -O3
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> variant{
    .id = "fronts",
    .parent = "left",
    .why =
        "multifrontal: updates of ancestors pass through the parent, so that L is written once and not read",
    .run = multifrontal<Plain>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
