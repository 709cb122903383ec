// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("prefetch"),
    .parent = ASSAY_ID("back"),
    .why = "software prefetch into L2, across the ends of pages and chunks",
    .isa = compiled_for,
    .run = there_and_back<Chunk<Doubles, 8, true>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
