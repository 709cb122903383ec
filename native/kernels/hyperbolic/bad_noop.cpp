// build: -O2
#include "kernels/hyperbolic/work.hpp"

namespace assay::kernels {

namespace {

void run(const Gas&) {}

constexpr Variant<Gas> variant{
    .id = "broken-noop",
    .parent = "once",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
