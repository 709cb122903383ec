// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/acoustic/threads.hpp"
#include "kernels/acoustic/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    boxes_side_by_side(w, tiles_of<Tile<Floats, 1, ASSAY_AVX2(4, ByLoads) ASSAY_AVX512(2, ByShifts), true>>);
}

constexpr Variant<Wave> variant{
    .id = ASSAY_ID("fetched"),
    .parent = ASSAY_ID("tiles"),
    .why = ASSAY_AVX2("software prefetch from memory, a row ahead")
        ASSAY_AVX512("a row of two planes at a time: fewer streams from memory, each prefetched a row ahead"),
    .isa = compiled_for,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
