// build: -O3
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> variant{
    .id = "left",
    .parent = "right",
    .why = "left-looking: a node receives all updates when it is factored: it is written once, and its "
           "dependencies are read again",
    .run = left_looking<Plain>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
