// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/horner/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> avx2{
    .id = "avx2",
    .parent = "horner",
    .why = "four elements in one instruction, fused multiply-add",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<Four, 1>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(avx2);

} // namespace assay::kernels
