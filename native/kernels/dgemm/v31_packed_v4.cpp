// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/dgemm/blocked.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> packed_v4{
    .id = "packed-v4",
    .parent = "packed-v3",
    .why = "eight elements in one instruction, 8 by 28 of C at once, still in memory",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<InMemory<Eight, 1, 28, 7>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(packed_v4);

} // namespace assay::kernels
