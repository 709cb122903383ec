// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> pow_o3{
    .id = "pow-o3",
    .parent = "pow-o2",
    .why = "instructions of AVX2 and fused multiply-add may be used, squares are still of double precision",
    .isa = Isa::v3,
    .broken = false,
    .run = fused<std::int32_t, squared_by_pow>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pow_o3);

} // namespace assay::kernels
