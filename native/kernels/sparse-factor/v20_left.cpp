// build: -O3
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> variant{
    .id = "left",
    .parent = "right",
    .why = "all that a node depends on is taken out of it when its turn comes: it is written once, and what "
           "it depends on read again",
    .run = left_looking<Plain>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
