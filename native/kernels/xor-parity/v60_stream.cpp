// build: -O3
// for: avx2 avx512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = ASSAY_ID("stream"),
    .parent = ASSAY_ID("pieces"),
    .why = "parities larger than the caches are stored past them, and their lines are not read first",
    .isa = compiled_for,
    .run = piece_by_piece<both_past_caches<Register>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
