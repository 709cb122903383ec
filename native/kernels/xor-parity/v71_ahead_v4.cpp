// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> ahead_v4{
    .id = "ahead-avx512",
    .parent = "square-avx512",
    .why = "lines of the next piece are asked for, in their order, while this one is added",
    .isa = Isa::v4,
    .broken = false,
    .run = piece_by_piece<squares<Zmm, true>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(ahead_v4);

} // namespace assay::kernels
