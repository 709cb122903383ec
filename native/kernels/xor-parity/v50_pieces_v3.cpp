// build: -O3 -march=x86-64-v3
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> pieces_v3{
    .id = "pieces-avx2",
    .parent = "array-avx2",
    .why = "both parities of a piece while it is in the second-level cache",
    .isa = Isa::v3,
    .broken = false,
    .run = piece_by_piece<both<at_once<Ymm, false>>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pieces_v3);

} // namespace assay::kernels
