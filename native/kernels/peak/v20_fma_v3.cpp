// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

void run(const Counting& work) {
    *work.sum = count<32>(work, work.n);
}

constexpr Variant<Counting> fma_v3{
    .id = "fma-v3",
    .parent = "sse",
    .why = "four elements in one instruction, fused multiply-add",
    .isa = Isa::v3,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fma_v3);

} // namespace assay::kernels
