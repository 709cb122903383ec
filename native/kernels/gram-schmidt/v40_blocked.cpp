// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("blocked"),
    .parent = ASSAY_ID("classical"),
    .why = "chunks: one of x stays in the first-level cache while all vectors are processed",
    .isa = compiled_for,
    .run = by_chunks<Chunk<Doubles, 1>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
