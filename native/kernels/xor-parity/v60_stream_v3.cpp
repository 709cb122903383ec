// build: -O3 -march=x86-64-v3
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> stream_v3{
    .id = "stream-avx2",
    .parent = "pieces-avx2",
    .why = "parities that do not fit the caches go past them, and their lines are not read first",
    .isa = Isa::v3,
    .broken = false,
    .run = piece_by_piece<both_past_caches<Ymm>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(stream_v3);

} // namespace assay::kernels
