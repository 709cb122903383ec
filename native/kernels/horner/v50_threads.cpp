// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/horner/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("chains"),
    .why = "all threads",
    .isa = compiled_for,
    .run = side_by_side<Doubles, chains_in_registers>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
