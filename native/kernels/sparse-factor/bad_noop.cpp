// build: -O2
#include "kernels/sparse-factor/work.hpp"

namespace assay::kernels {

namespace {

void run(const Factor&) {}

constexpr Variant<Factor> variant{
    .id = "broken-noop",
    .parent = "right",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
