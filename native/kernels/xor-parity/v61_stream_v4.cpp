// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> stream_v4{
    .id = "stream-avx512",
    .parent = "pieces-avx512",
    .why = "parities that do not fit the caches go past them, and their lines are not read first",
    .isa = Isa::v4,
    .broken = false,
    .run = piece_by_piece<both_past_caches<Zmm>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(stream_v4);

} // namespace assay::kernels
