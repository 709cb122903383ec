// build: -O3 -march=x86-64-v3 -ffp-contract=fast -ffast-math
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> pow_fast{
    .id = "pow-fast",
    .parent = "pow-o3",
    .why = "rounding may change, so that squares may be of single precision",
    .isa = Isa::v3,
    .broken = false,
    .run = fused<std::int32_t, squared_by_pow>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pow_fast);

} // namespace assay::kernels
