// build: -O2 -fno-tree-vectorize
#include "kernels/state-vector/gates.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> variant{
    .id = "gates",
    .parent = "",
    .why = "gate by gate, each in a pass over all amplitudes",
    .run = all_gates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
