// build: -O3 -march=x86-64-v3
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Code> nibbles_v3{
    .id = "nibbles-avx2",
    .parent = "products",
    .why = "32 products at once: two shuffles look up four bits each",
    .isa = Isa::v3,
    .broken = false,
    .run = one_by_one<Ymm>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(nibbles_v3);

} // namespace assay::kernels
