// build: -O3 -ffp-contract=off
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

void run(const Counting& work) {
    *work.sum = count<16>(work, work.n);
}

constexpr Variant<Counting> variant{
    .id = "sse",
    .parent = "",
    .why = "two elements in one instruction, multiplied and then added",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
