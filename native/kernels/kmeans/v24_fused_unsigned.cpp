// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("fused-unsigned"),
    .parent = ASSAY_ID("fused-signed"),
    .why = "the index is unsigned, which the article's author suspected and ruled out",
    .isa = compiled_for,
    .run = fused<std::uint32_t, squared>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
