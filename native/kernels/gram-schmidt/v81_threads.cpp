// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/gram-schmidt/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("groups"),
    .why = "all threads, which wait for each other once for each group",
    .isa = compiled_for,
    .run = side_by_side<Chunk<Doubles, 8, true>>,
    .cost = by_groups,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
