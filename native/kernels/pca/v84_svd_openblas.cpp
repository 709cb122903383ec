// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/by_library.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> variant{
    .id = "svd-openblas",
    .parent = "lib-openblas",
    .why = "singular values of the standardised data themselves (dgesdd of OpenBLAS of the distribution): "
           "six times the operations and vectors of all observations, but small values keep their digits",
    .run = by_singular_values<openblas_lapack>,
    .missing = missing_singular<openblas_lapack>,
    .cost = by_singular_values,
    .library = lapack_version<openblas_lapack>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
