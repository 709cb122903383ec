// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/state-vector/groups.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<State> lanes_v3{
    .id = "lanes-v3",
    .parent = "groups",
    .why = "the compiler works on four amplitudes at once",
    .isa = Isa::v3,
    .broken = false,
    .run = group_by_group,
    .missing = nullptr,
    .cost = grouped_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v3);

} // namespace assay::kernels
