// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/acoustic/threads.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    boxes_side_by_side(w, rows_of);
}

constexpr Variant<Wave> variant{
    .id = ASSAY_ID("blocks"),
    .parent = ASSAY_ID("threads"),
    .why = "blocks of rows: planes that are read again are still in a cache",
    .isa = compiled_for,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
