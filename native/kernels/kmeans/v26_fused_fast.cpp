// build: -O3 -march=x86-64-v3 -ffp-contract=fast -ffast-math
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> fused_fast{
    .id = "fused-fast",
    .parent = "fused-signed",
    .why = "rounding and order may change: the minimum no longer has to be exact about what is not a number",
    .isa = Isa::v3,
    .broken = false,
    .run = fused<std::int32_t, squared>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fused_fast);

} // namespace assay::kernels
