// build: -O3 -ffp-contract=fast -ffast-math
// for: avx2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("fused-fast"),
    .parent = ASSAY_ID("fused-signed"),
    .why = "rounding and order may change: the minimum may ignore NaN",
    .isa = compiled_for,
    .run = fused<std::int32_t, squared>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
