// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/integral-tiles/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Contraction> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("lanes"),
    .why = "all threads, each with the tiles of its own rows",
    .isa = compiled_for,
    .run = rows_side_by_side<InLanes<Doubles>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
