// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> fused_signed{
    .id = "fused-signed",
    .parent = "fused-o3",
    .why = "instructions of AVX2 and fused multiply-add may be used; the index is signed",
    .isa = Isa::v3,
    .broken = false,
    .run = fused<std::int32_t, squared>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fused_signed);

} // namespace assay::kernels
