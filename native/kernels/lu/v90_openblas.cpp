// build: -O2
#include "kernels/lu/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = "lib-openblas",
    .parent = "columns",
    .why = "OpenBLAS of the distribution, all threads; OPENBLAS_CORETYPE corrects a wrong core type",
    .run = by_library<openblas_lapack>,
    .missing = missing_lapack<openblas_lapack>,
    .library = lapack_version<openblas_lapack>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
