// build: -O3 -ffp-contract=off
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

void run(const Counting& work) {
    *work.sum = count<16>(work, work.n);
}

constexpr Variant<Counting> sse{
    .id = "sse",
    .parent = nullptr,
    .why = "two elements in one instruction, multiplied and then added",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(sse);

} // namespace assay::kernels
