// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

void run(const Counting& work) {
    *work.sum = count<64>(work, work.n);
}

constexpr Variant<Counting> fma_v4{
    .id = "fma-v4",
    .parent = "fma-v3",
    .why = "eight elements in one instruction",
    .isa = Isa::v4,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fma_v4);

} // namespace assay::kernels
