// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/cell-list/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Box> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("lanes"),
    .why = "all threads, each with its own rows of cells",
    .isa = compiled_for,
    .run = rows_side_by_side<Doubles>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
