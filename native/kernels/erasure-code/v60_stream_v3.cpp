// build: -O3 -march=x86-64-v3
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Code> stream_v3{
    .id = "stream-avx2",
    .parent = "once-avx2",
    .why = "parities that do not fit the caches go past them, and their lines are not read first",
    .isa = Isa::v3,
    .broken = false,
    .run = all_past_caches<Ymm>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(stream_v3);

} // namespace assay::kernels
