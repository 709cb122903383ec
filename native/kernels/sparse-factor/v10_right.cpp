// build: -O3
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> variant{
    .id = "right",
    .parent = "",
    .why = "right-looking: each finished node updates all dependent nodes at once",
    .run = right_looking<Plain>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
