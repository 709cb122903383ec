// build: -O2
#include "kernels/erasure-code/work.hpp"

namespace assay::kernels {

namespace {

void run(const Code&) {}

constexpr Variant<Code> variant{
    .id = "broken-noop",
    .parent = "logarithms",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
