// build: -O2
#include "kernels/locks/work.hpp"

namespace assay::kernels {

namespace {

void run(const Lookups&) {}

constexpr Variant<Lookups> broken_noop{
    .id = "broken-noop",
    .parent = "spin",
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
