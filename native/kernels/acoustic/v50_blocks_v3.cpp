// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/threads.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    boxes_side_by_side(w, rows_of);
}

constexpr Variant<Wave> blocks_v3{
    .id = "blocks-v3",
    .parent = "threads-v3",
    .why = "blocks of rows: planes that are read again are still in a cache",
    .isa = Isa::v3,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(blocks_v3);

} // namespace assay::kernels
