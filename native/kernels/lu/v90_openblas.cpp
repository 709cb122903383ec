// build: -O2
#include "kernels/lu/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> lib_openblas{
    .id = "lib-openblas",
    .parent = "columns",
    .why = "OpenBLAS of the distribution, all threads; where it takes the processor for another, "
           "OPENBLAS_CORETYPE tells it",
    .isa = Isa::any,
    .broken = false,
    .run = by_library<openblas>,
    .missing = missing_factors<openblas>,
    .cost = nullptr,
    .library = told_blas<openblas>,
};

} // namespace

ASSAY_VARIANT(lib_openblas);

} // namespace assay::kernels
