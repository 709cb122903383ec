// build: -O3 -ffp-contract=off -fopenmp
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Counting> variant{
    .id = "threads",
    .parent = "sse",
    .why = "all threads",
    .run = count_together<16>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
