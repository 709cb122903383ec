// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/cell-list/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Box> lanes_v4{
    .id = "lanes-v4",
    .parent = "lanes-v3",
    .why = "vectors of eight",
    .isa = Isa::v4,
    .broken = false,
    .run = rows_in_lanes<Eight>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v4);

} // namespace assay::kernels
