// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/threads.hpp"
#include "kernels/acoustic/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    boxes_side_by_side(w, tiles_of<Tile<Eight, 1, 4, ByLoads, false>>);
}

constexpr Variant<Wave> tiles_v3{
    .id = "tiles-v3",
    .parent = "blocks-v3",
    .why = "four planes at a time: what their cells read of other planes is loaded once",
    .isa = Isa::v3,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(tiles_v3);

} // namespace assay::kernels
