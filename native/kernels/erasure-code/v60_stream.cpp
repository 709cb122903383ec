// build: -O3
// for: avx2
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Code> variant{
    .id = ASSAY_ID("stream"),
    .parent = ASSAY_ID("once"),
    .why = "parities larger than the caches are stored past them, and their lines are not read first",
    .isa = compiled_for,
    .run = all_past_caches<Ymm>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
