// build: -O3
// for: avx2
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Code> variant{
    .id = ASSAY_ID("nibbles"),
    .parent = "products",
    .why = "32 products at once: two shuffles look up four bits each",
    .isa = compiled_for,
    .run = one_by_one<Ymm>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
