// build: -O2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

void run(const System&) {}

constexpr Variant<System> broken_noop{
    .id = "broken-noop",
    .parent = "modified",
    .why = "wrong on purpose: does nothing",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(broken_noop);

} // namespace assay::kernels
