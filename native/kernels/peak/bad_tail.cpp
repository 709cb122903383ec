// build: -O3
#include "kernels/peak/chains.hpp"

namespace assay::kernels {

namespace {

void run(const Counting& work) {
    *work.sum = count<16>(work, work.n - 1);
}

constexpr Variant<Counting> broken_tail{
    .id = "broken-tail",
    .parent = "sse",
    .why = "wrong on purpose: leaves out the last one",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(broken_tail);

} // namespace assay::kernels
