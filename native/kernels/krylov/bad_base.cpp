// build: -O2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

void but_the_last(const Base& base) {
    Base fewer = base;
    --fewer.vectors;
    one_by_one<Double1>(fewer);
}

constexpr Variant<System> variant{
    .id = "broken-base",
    .parent = "modified",
    .why = "wrong on purpose: the newest vector of the base is left out",
    .broken = true,
    .run = solve<but_the_last>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
