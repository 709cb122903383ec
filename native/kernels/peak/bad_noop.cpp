// build: -O2
#include "kernels/peak/work.hpp"

namespace assay::kernels {

namespace {

void run(const Counting&) {}

constexpr Variant<Counting> variant{
    .id = "broken-noop",
    .parent = "sse",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
