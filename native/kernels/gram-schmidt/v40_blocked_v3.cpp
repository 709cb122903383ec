// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> blocked_v3{
    .id = "blocked-v3",
    .parent = "classical-v3",
    .why = "by chunks: one of x stays in the first-level cache while all vectors pass by",
    .isa = Isa::v3,
    .broken = false,
    .run = by_chunks<Chunk<Four, 1>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(blocked_v3);

} // namespace assay::kernels
