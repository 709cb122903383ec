// build: -O2 -fno-tree-vectorize
#include "kernels/state-vector/groups.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> variant{
    .id = "groups",
    .parent = "blocks",
    .why = "several gates of higher qubits at once too, on runs of amplitudes that differ in them",
    .run = group_by_group,
    .cost = grouped_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
