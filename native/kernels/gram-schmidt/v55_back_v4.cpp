// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> back_v4{
    .id = "back-v4",
    .parent = "fused-v4",
    .why = "both updates in one pass that begins with the last chunk, which is still in the cache",
    .isa = Isa::v4,
    .broken = false,
    .run = there_and_back<Chunk<Eight, 8>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(back_v4);

} // namespace assay::kernels
