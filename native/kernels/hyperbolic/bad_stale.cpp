// build: -O2
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

void run(const Gas& w) {
    Gas fewer = w;
    fewer.steps = w.steps - 1;
    whole_steps(fewer);
}

constexpr Variant<Gas> variant{
    .id = "broken-stale",
    .parent = "once",
    .why = "wrong on purpose: reports a last step that it did not do",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
