// build: -O2
#include "kernels/state-vector/work.hpp"

namespace assay::kernels {

namespace {

void run(const State&) {}

constexpr Variant<State> variant{
    .id = "broken-noop",
    .parent = "gates",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
