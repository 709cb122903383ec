// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("pow-o3"),
    .parent = "pow-o2",
    .why = "AVX2 and fused multiply-add allowed, squares still in double precision",
    .isa = compiled_for,
    .run = fused<std::int32_t, squared_by_pow>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
