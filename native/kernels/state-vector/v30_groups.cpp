// build: -O2 -fno-tree-vectorize
#include "kernels/state-vector/groups.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> groups{
    .id = "groups",
    .parent = "blocks",
    .why = "of the qubits above several at once too, on runs of amplitudes that differ in them",
    .isa = Isa::any,
    .broken = false,
    .run = group_by_group,
    .missing = nullptr,
    .cost = grouped_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(groups);

} // namespace assay::kernels
