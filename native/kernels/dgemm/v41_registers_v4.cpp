// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/dgemm/blocked.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> registers_v4{
    .id = "registers-v4",
    .parent = "packed-v4",
    .why = "8 by 28 elements of C stay in 28 of the 32 vector registers for all steps",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<InRegisters<Eight, 1, 28, 7>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(registers_v4);

} // namespace assay::kernels
