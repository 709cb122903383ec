// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/threads.hpp"
#include "kernels/acoustic/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    boxes_side_by_side(w, tiles_of<Tile<Sixteen, 1, 2, ByShifts, true>>);
}

constexpr Variant<Wave> fetched_v4{
    .id = "fetched-v4",
    .parent = "tiles-v4",
    .why =
        "a row of two planes at a time, so that fewer streams come from memory, each asked for a row ahead",
    .isa = Isa::v4,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fetched_v4);

} // namespace assay::kernels
