// build: -O2
#include "kernels/locks/work.hpp"

namespace assay::kernels {

namespace {

void run(const Lookups&) {}

constexpr Variant<Lookups> variant{
    .id = "broken-noop",
    .parent = "spin",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
