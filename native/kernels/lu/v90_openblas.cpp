// build: -O2
#include "kernels/lu/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = "lib-openblas",
    .parent = "columns",
    .why = "OpenBLAS of the distribution, all threads; where it takes the processor for another, "
           "OPENBLAS_CORETYPE tells it",
    .run = by_library<openblas_lapack>,
    .missing = missing_lapack<openblas_lapack>,
    .library = told_lapack<openblas_lapack>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
