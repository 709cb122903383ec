// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/acoustic/threads.hpp"
#include "kernels/acoustic/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    boxes_side_by_side(w,
                       tiles_of<Tile<Floats, ASSAY_AVX2(1, 4, ByLoads) ASSAY_AVX512(4, 4, ByShifts), false>>);
}

constexpr Variant<Wave> variant{
    .id = ASSAY_ID("tiles"),
    .parent = ASSAY_ID("blocks"),
    .why = ASSAY_AVX2("four planes at a time: their common neighbours in other planes are loaded once")
        ASSAY_AVX512("four rows of four planes at a time: their common neighbours are loaded once; "
                     "neighbours in the same row are combined by shifts in registers"),
    .isa = compiled_for,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
