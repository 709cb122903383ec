// build: -O2
#include "kernels/state-vector/work.hpp"

namespace assay::kernels {

namespace {

void run(const State&) {}

constexpr Variant<State> bad_noop{
    .id = "broken-noop",
    .parent = "gates",
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
