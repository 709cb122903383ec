// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/integral-tiles/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Contraction> lanes_v3{
    .id = "lanes-v3",
    .parent = "tiles",
    .why = "four integrals of a row at a time, for both matrices",
    .isa = Isa::v3,
    .broken = false,
    .run = tile_by_tile<InLanes<Four>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v3);

} // namespace assay::kernels
