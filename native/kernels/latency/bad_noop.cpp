// build: -O2
#include "kernels/latency/work.hpp"

namespace assay::kernels {

namespace {

void run(const Chase&) {}

constexpr Variant<Chase> broken_noop{
    .id = "broken-noop",
    .parent = "chase",
    .why = "wrong on purpose: does nothing",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(broken_noop);

} // namespace assay::kernels
