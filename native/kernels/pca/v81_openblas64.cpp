// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/by_library.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> variant{
    .id = "lib-openblas64",
    .parent = "rows",
    .why = "products by dsyrk and eigenvalues by dsyevd of OpenBLAS of numpy and scipy, all threads, on a "
           "centred copy",
    .run = by_products<openblas64_lapack>,
    .missing = missing_lapack<openblas64_lapack>,
    .cost = by_centred_copy,
    .library = lapack_version<openblas64_lapack>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
