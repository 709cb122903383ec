// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/acoustic/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("vectors"),
    .why = "all threads, each with a part of the rows",
    .isa = compiled_for,
    .run = rows_side_by_side,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
