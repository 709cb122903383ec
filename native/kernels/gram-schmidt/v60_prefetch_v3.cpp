// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> prefetch_v3{
    .id = "prefetch-v3",
    .parent = "back-v3",
    .why = "software prefetch into L2, across the ends of pages and chunks",
    .isa = Isa::v3,
    .broken = false,
    .run = there_and_back<Chunk<Four, 8, true>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(prefetch_v3);

} // namespace assay::kernels
