// build: -O2
#include "kernels/dgemm/product.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> variant{
    .id = "lib-openblas",
    .parent = "naive",
    .why = "OpenBLAS of the distribution, all threads; OPENBLAS_CORETYPE corrects a wrong core type",
    .run = by_library<openblas>,
    .missing = missing_blas<openblas, Product>,
    .library = blas_version<openblas>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
