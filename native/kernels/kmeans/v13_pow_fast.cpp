// build: -O3 -ffp-contract=fast -ffast-math
// for: avx2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("pow-fast"),
    .parent = ASSAY_ID("pow-o3"),
    .why = "rounding may change, so that squares can be in single precision",
    .isa = compiled_for,
    .run = fused<std::int32_t, squared_by_pow>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
