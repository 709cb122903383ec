// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/horner/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> chains_v3{
    .id = "chains-v3",
    .parent = "avx2",
    .why = "eight chains side by side: no multiply-add waits for the one before it",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<Four, 10>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(chains_v3);

} // namespace assay::kernels
