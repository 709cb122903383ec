// build: -O2 -fno-tree-vectorize
#include "kernels/state-vector/gates.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> gates{
    .id = "gates",
    .parent = nullptr,
    .why = "gate by gate, each in a pass over all amplitudes",
    .isa = Isa::any,
    .broken = false,
    .run = all_gates,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(gates);

} // namespace assay::kernels
