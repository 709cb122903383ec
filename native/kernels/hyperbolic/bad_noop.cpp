// build: -O2
#include "kernels/hyperbolic/work.hpp"

namespace assay::kernels {

namespace {

void run(const Gas&) {}

constexpr Variant<Gas> bad_noop{
    .id = "broken-noop",
    .parent = "once",
    .why = "wrong on purpose: nothing is done",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_noop);

} // namespace assay::kernels
