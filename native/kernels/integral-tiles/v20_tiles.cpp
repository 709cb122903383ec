// build: -O3
#include "kernels/integral-tiles/tiles.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Contraction> variant{
    .id = "tiles",
    .parent = "indices",
    .why = "tile by tile, in the order of memory",
    .run = tile_by_tile<OneByOne>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
