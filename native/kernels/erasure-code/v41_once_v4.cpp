// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Code> once_v4{
    .id = "once-avx512",
    .parent = "once-avx2",
    .why = "64 products at once, and three operands in one XOR",
    .isa = Isa::v4,
    .broken = false,
    .run = all_at_once<Zmm>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(once_v4);

} // namespace assay::kernels
