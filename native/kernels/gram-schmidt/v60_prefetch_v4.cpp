// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> prefetch_v4{
    .id = "prefetch-v4",
    .parent = "back-v4",
    .why = "software prefetch into L2, across the ends of pages and chunks",
    .isa = Isa::v4,
    .broken = false,
    .run = there_and_back<Chunk<Eight, 8, true>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(prefetch_v4);

} // namespace assay::kernels
