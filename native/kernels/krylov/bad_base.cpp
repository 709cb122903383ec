// build: -O2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

void but_the_last(const Base& base) {
    Base fewer = base;
    --fewer.vectors;
    one_by_one<One>(fewer);
}

constexpr Variant<System> broken_base{
    .id = "broken-base",
    .parent = "modified",
    .why = "wrong on purpose: the newest vector of the base is forgotten",
    .isa = Isa::any,
    .broken = true,
    .run = solve<but_the_last>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(broken_base);

} // namespace assay::kernels
