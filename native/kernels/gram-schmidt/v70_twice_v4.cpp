// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> twice_v4{
    .id = "twice-v4",
    .parent = "prefetch-v4",
    .why = "the classical method twice, orthogonal to the last digit: the second products are formed of a "
           "chunk just updated",
    .isa = Isa::v4,
    .broken = false,
    .run = twice<Chunk<Eight, 8, true>>,
    .missing = nullptr,
    .cost = repeated,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(twice_v4);

} // namespace assay::kernels
