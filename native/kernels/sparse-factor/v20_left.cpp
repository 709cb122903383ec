// build: -O3
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> left{
    .id = "left",
    .parent = "right",
    .why = "all that a node depends on is taken out of it when its turn comes: it is written once, and what "
           "it depends on read again",
    .isa = Isa::any,
    .broken = false,
    .run = left_looking<Plain>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(left);

} // namespace assay::kernels
