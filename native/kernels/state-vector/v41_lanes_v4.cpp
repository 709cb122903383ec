// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/state-vector/groups.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> lanes_v4{
    .id = "lanes-v4",
    .parent = "lanes-v3",
    .why = "vectors of eight",
    .isa = Isa::v4,
    .broken = false,
    .run = group_by_group,
    .missing = nullptr,
    .cost = grouped_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v4);

} // namespace assay::kernels
