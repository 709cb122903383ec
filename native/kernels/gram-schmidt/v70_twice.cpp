// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = ASSAY_ID("twice"),
    .parent = ASSAY_ID("prefetch"),
    .why = "the classical method twice, orthogonal to the last digit: the second products use a chunk just "
           "updated",
    .isa = compiled_for,
    .run = twice<Chunk<Doubles, 8, true>>,
    .cost = repeated,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
