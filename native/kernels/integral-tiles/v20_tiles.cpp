// build: -O3
#include "kernels/integral-tiles/tiles.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Contraction> tiles{
    .id = "tiles",
    .parent = "indices",
    .why = "tile by tile, in the order in which they lie",
    .isa = Isa::any,
    .broken = false,
    .run = tile_by_tile<OneByOne>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(tiles);

} // namespace assay::kernels
