// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2
#include "kernels/gram-schmidt/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("modified-threads"),
    .parent = ASSAY_ID("modified"),
    .why = "all threads, which wait for each other once for each vector",
    .isa = compiled_for,
    .run = one_by_one_side_by_side<Doubles>,
    .cost = unblocked,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
