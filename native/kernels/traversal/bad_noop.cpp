// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words&) {}

constexpr Variant<Words> variant{
    .id = "broken-noop",
    .parent = "forward",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
