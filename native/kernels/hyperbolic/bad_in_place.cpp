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

constexpr Variant<Gas> bad_in_place{
    .id = "broken-in-place",
    .parent = "once",
    .why = "wrong on purpose: steps are taken in the place of what they begin with, so that the last row "
           "sees the first one a step later",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_in_place);

} // namespace assay::kernels
