// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("fused-signed"),
    .parent = "fused-o3",
    .why = "AVX2 and fused multiply-add allowed; the index is signed",
    .isa = compiled_for,
    .run = fused<std::int32_t, squared>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
