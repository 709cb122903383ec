// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/integral-tiles/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Contraction> lanes_v4{
    .id = "lanes-v4",
    .parent = "lanes-v3",
    .why = "vectors of eight",
    .isa = Isa::v4,
    .broken = false,
    .run = tile_by_tile<InLanes<Eight>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v4);

} // namespace assay::kernels
