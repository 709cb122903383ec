// build: -O2
#include "kernels/peak/work.hpp"

namespace assay::kernels {

namespace {

void run(const Counting&) {}

constexpr Variant<Counting> broken_noop{
    .id = "broken-noop",
    .parent = "sse",
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
