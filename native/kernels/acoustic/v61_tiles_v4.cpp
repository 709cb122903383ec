// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/threads.hpp"
#include "kernels/acoustic/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    boxes_side_by_side(w, tiles_of<Tile<Sixteen, 4, 4, ByShifts, false>>);
}

constexpr Variant<Wave> tiles_v4{
    .id = "tiles-v4",
    .parent = "blocks-v4",
    .why = "four rows of four planes at a time: what their cells read of other rows and planes is loaded "
           "once; neighbours in the same row are shifted together in registers",
    .isa = Isa::v4,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(tiles_v4);

} // namespace assay::kernels
