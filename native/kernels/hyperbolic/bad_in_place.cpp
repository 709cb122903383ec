// build: -O2
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

void run(const Gas& w) {
    Gas one = w;
    one.other = w.state;
    whole_steps(one);
    *w.found = 0;
}

constexpr Variant<Gas> variant{
    .id = "broken-in-place",
    .parent = "once",
    .why = "wrong on purpose: steps in place, so that the last row reads the first one a step later",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
