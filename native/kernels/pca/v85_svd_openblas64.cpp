// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/by_library.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> variant{
    .id = "svd-openblas64",
    .parent = "lib-openblas64",
    .why = "singular values of the standardised data themselves (dgesdd of OpenBLAS of numpy and scipy): six "
           "times the operations and vectors of all observations, but small values keep their digits",
    .run = by_singular_values<openblas64_lapack>,
    .missing = missing_singular<openblas64_lapack>,
    .cost = by_singular_values,
    .library = lapack_version<openblas64_lapack>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
