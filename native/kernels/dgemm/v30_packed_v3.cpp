// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/dgemm/blocked.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> packed_v3{
    .id = "packed-v3",
    .parent = "tiled",
    .why = "both tiles are packed into strips that are read in order; four elements in one instruction, C in "
           "memory",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<InMemory<Four, 2, 6, 2>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(packed_v3);

} // namespace assay::kernels
