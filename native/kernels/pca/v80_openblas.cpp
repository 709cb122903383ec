// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/by_library.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> variant{
    .id = "lib-openblas",
    .parent = "rows",
    .why = "products by dsyrk and eigenvalues by dsyevd of OpenBLAS of the distribution, all threads, on a "
           "centred copy",
    .run = by_products<openblas_lapack>,
    .missing = missing_lapack<openblas_lapack>,
    .cost = by_centred_copy,
    .library = lapack_version<openblas_lapack>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
