// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> square_v4{
    .id = "square-avx512",
    .parent = "stream-avx512",
    .why = "a square of ten strips of ten disks in registers: both parities of one reading",
    .isa = Isa::v4,
    .broken = false,
    .run = piece_by_piece<squares<Zmm, false>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(square_v4);

} // namespace assay::kernels
