// build: -O2
#include "kernels/log-product/work.hpp"

namespace assay::kernels {

namespace {

void run(const Logarithms&) {}

constexpr Variant<Logarithms> variant{
    .id = "broken-noop",
    .parent = "scalar-o3",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
