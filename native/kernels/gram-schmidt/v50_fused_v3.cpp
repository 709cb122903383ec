// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> fused_v3{
    .id = "fused-v3",
    .parent = "blocked-v3",
    .why = "eight vectors at once: an element of x is read and written once for all eight",
    .isa = Isa::v3,
    .broken = false,
    .run = by_chunks<Chunk<Four, 8>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fused_v3);

} // namespace assay::kernels
