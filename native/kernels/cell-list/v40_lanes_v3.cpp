// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/cell-list/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Box> lanes_v3{
    .id = "lanes-v3",
    .parent = "rows",
    .why = "all particles of a cell at a time, in vectors of four",
    .isa = Isa::v3,
    .broken = false,
    .run = rows_in_lanes<Four>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v3);

} // namespace assay::kernels
