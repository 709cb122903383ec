// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("classical"),
    .parent = ASSAY_ID("modified"),
    .why =
        "the classical method: all products before the first update, so that x is not changed between them",
    .isa = compiled_for,
    .run = products_first<Doubles>,
    .cost = unblocked,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
