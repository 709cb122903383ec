// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/horner/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> chains_v4{
    .id = "chains-v4",
    .parent = "avx512",
    .why = "twelve chains side by side: no multiply-add waits for the one before it",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<Eight, 15>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(chains_v4);

} // namespace assay::kernels
