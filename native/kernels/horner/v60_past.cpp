// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/horner/past.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> variant{
    .id = ASSAY_ID("past-caches"),
    .parent = ASSAY_ID("threads"),
    .why = "values are stored past the caches: a line that is written whole is not read first",
    .isa = compiled_for,
    .run = past_caches<Doubles, chains_in_registers>,
    .missing = past_missing,
    .cost = past_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
