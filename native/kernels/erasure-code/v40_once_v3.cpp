// build: -O3 -march=x86-64-v3
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Code> once_v3{
    .id = "once-avx2",
    .parent = "nibbles-avx2",
    .why = "all three parities of one reading",
    .isa = Isa::v3,
    .broken = false,
    .run = all_at_once<Ymm>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(once_v3);

} // namespace assay::kernels
