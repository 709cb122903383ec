// build: -O2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> modified{
    .id = "modified",
    .parent = nullptr,
    .why = "orthogonalises by the modified method, a vector after the other",
    .isa = Isa::any,
    .broken = false,
    .run = solve<one_by_one<One>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(modified);

} // namespace assay::kernels
