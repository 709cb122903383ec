// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("back"),
    .parent = ASSAY_ID("fused"),
    .why = "both updates in one pass that begins with the last chunk, which is still in the cache",
    .isa = compiled_for,
    .run = there_and_back<Chunk<Doubles, 8>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
