// build: -O2
#include "kernels/latency/work.hpp"

namespace assay::kernels {

namespace {

void run(const Chase&) {}

constexpr Variant<Chase> variant{
    .id = "broken-noop",
    .parent = "chase",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
