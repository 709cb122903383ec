// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/horner/past.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> past_v3{
    .id = "past-caches-v3",
    .parent = "threads-v3",
    .why = "values go past the caches: a line that is written whole is not read before",
    .isa = Isa::v3,
    .broken = false,
    .run = past_caches<Four, 10>,
    .missing = past_missing,
    .cost = past_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(past_v3);

} // namespace assay::kernels
