// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> pieces_v4{
    .id = "pieces-avx512",
    .parent = "array-avx512",
    .why = "both parities of a piece while it is in the second-level cache",
    .isa = Isa::v4,
    .broken = false,
    .run = piece_by_piece<both<at_once<Zmm, false>>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pieces_v4);

} // namespace assay::kernels
