// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("modified"),
    .parent = "modified",
    .why = "four elements in one instruction, eight partial sums side by side",
    .isa = compiled_for,
    .run = one_by_one<Doubles>,
    .cost = unblocked,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
