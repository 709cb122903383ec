// build: -O3 -ffp-contract=fast
// for: avx512
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = ASSAY_ID("gathered"),
    .parent = ASSAY_ID("own"),
    .why = "elements above zero are gathered, and the function is computed of these alone",
    .isa = compiled_for,
    .run = gathered,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
