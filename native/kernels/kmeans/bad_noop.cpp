// build: -O2
#include "kernels/kmeans/work.hpp"

namespace assay::kernels {

namespace {

void run(const Assignment&) {}

constexpr Variant<Assignment> variant{
    .id = "broken-noop",
    .parent = "fused-o2",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
