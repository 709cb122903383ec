// build: -O3
// for: avx2 avx512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = ASSAY_ID("pieces"),
    .parent = ASSAY_ID("array"),
    .why = "both parities of a piece while it is in the second-level cache",
    .isa = compiled_for,
    .run = piece_by_piece<both<at_once<Register, false>>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
