// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> fused_v4{
    .id = "fused-v4",
    .parent = "fused-v3",
    .why = "eight elements in one instruction",
    .isa = Isa::v4,
    .broken = false,
    .run = by_chunks<Chunk<Eight, 8>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fused_v4);

} // namespace assay::kernels
