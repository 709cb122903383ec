// build: -O3 -ffp-contract=off -fopenmp
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Counting> threads{
    .id = "threads",
    .parent = "sse",
    .why = "all threads",
    .isa = Isa::any,
    .broken = false,
    .run = count_together<16>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads);

} // namespace assay::kernels
