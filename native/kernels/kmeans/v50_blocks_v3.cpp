// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> blocks_v3{
    .id = "blocks-v3",
    .parent = "arrays-v3",
    .why = "blocks of 64 points beside one centre: eight points in one instruction, no reduction over lanes",
    .isa = Isa::v3,
    .broken = false,
    .run = by_blocks,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(blocks_v3);

} // namespace assay::kernels
