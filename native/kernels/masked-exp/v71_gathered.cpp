// build: -O3 -ffp-contract=fast
// for: avx512
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = ASSAY_ID("gathered"),
    .parent = ASSAY_ID("own"),
    .why = "gathers elements above zero, and computes the function of these alone",
    .isa = compiled_for,
    .run = gathered,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
