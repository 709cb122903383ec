// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> blocks_v4{
    .id = "blocks-v4",
    .parent = "blocks-v3",
    .why = "sixteen points in one instruction",
    .isa = Isa::v4,
    .broken = false,
    .run = by_blocks,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(blocks_v4);

} // namespace assay::kernels
