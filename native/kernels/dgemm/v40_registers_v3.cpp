// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/dgemm/blocked.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> registers_v3{
    .id = "registers-v3",
    .parent = "packed-v3",
    .why = "8 by 6 elements of C stay in 12 of the 16 vector registers for all steps",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<InRegisters<Four, 2, 6, 2>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(registers_v3);

} // namespace assay::kernels
