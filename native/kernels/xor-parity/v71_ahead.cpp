// build: -O3
// for: avx512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = ASSAY_ID("ahead"),
    .parent = ASSAY_ID("square"),
    .why = "prefetches the lines of the next piece, in their order, while it adds this one",
    .isa = compiled_for,
    .run = piece_by_piece<squares<Zmm, true>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
