// build: -O2
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

void run(const Gas& w) {
    Gas fewer = w;
    fewer.steps = w.steps - 1;
    whole_steps(fewer);
}

constexpr Variant<Gas> bad_stale{
    .id = "broken-stale",
    .parent = "once",
    .why = "wrong on purpose: the last step is said to be done, and is not",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_stale);

} // namespace assay::kernels
