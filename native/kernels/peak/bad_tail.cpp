// build: -O3
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

void run(const Counting& work) {
    *work.sum = count<16>(work, work.n - 1);
}

constexpr Variant<Counting> variant{
    .id = "broken-tail",
    .parent = "sse",
    .why = "wrong on purpose: leaves out the last element",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
