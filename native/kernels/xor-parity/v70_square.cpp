// build: -O3
// for: avx512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = ASSAY_ID("square"),
    .parent = ASSAY_ID("stream"),
    .why = "a square of ten strips of ten disks in registers: both parities in one pass over the data",
    .isa = compiled_for,
    .run = piece_by_piece<squares<Zmm, false>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
