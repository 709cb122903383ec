// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/horner/past.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> past_v4{
    .id = "past-caches-v4",
    .parent = "threads-v4",
    .why = "values go past the caches: a line that is written whole is not read before",
    .isa = Isa::v4,
    .broken = false,
    .run = past_caches<Eight, 15>,
    .missing = past_missing,
    .cost = past_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(past_v4);

} // namespace assay::kernels
