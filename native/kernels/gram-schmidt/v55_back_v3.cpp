// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> back_v3{
    .id = "back-v3",
    .parent = "fused-v3",
    .why = "both updates in one pass that begins with the last chunk, which is still in the cache",
    .isa = Isa::v3,
    .broken = false,
    .run = there_and_back<Chunk<Four, 8>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(back_v3);

} // namespace assay::kernels
