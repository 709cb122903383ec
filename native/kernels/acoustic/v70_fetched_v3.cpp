// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/threads.hpp"
#include "kernels/acoustic/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    boxes_side_by_side(w, tiles_of<Tile<Eight, 1, 4, ByLoads, true>>);
}

constexpr Variant<Wave> fetched_v3{
    .id = "fetched-v3",
    .parent = "tiles-v3",
    .why = "what comes from memory is asked for a row ahead",
    .isa = Isa::v3,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fetched_v3);

} // namespace assay::kernels
