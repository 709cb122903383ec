// build: -O2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

void run(const System&) {}

constexpr Variant<System> variant{
    .id = "broken-noop",
    .parent = "modified",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
