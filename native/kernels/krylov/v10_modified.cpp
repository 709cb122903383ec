// build: -O2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> variant{
    .id = "modified",
    .parent = "",
    .why = "orthogonalises by the modified method, a vector after the other",
    .run = solve<one_by_one<Double1>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
