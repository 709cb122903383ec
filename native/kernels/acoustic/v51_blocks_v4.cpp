// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/threads.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    boxes_side_by_side(w, rows_of);
}

constexpr Variant<Wave> blocks_v4{
    .id = "blocks-v4",
    .parent = "threads-v4",
    .why = "blocks of rows: planes that are read again are still in a cache",
    .isa = Isa::v4,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(blocks_v4);

} // namespace assay::kernels
