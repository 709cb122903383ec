// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> twice_v3{
    .id = "twice-v3",
    .parent = "prefetch-v3",
    .why = "the classical method twice, orthogonal to the last digit: the second products are formed of a "
           "chunk just updated",
    .isa = Isa::v3,
    .broken = false,
    .run = twice<Chunk<Four, 8, true>>,
    .missing = nullptr,
    .cost = repeated,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(twice_v3);

} // namespace assay::kernels
