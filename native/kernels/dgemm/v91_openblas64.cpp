// build: -O2
#include "kernels/dgemm/product.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> variant{
    .id = "lib-openblas64",
    .parent = "naive",
    .why = "OpenBLAS of numpy and scipy (scipy-openblas64), usually newer; ASSAY_OPENBLAS64 is its path",
    .run = by_library<openblas64>,
    .missing = missing_blas<openblas64, Product>,
    .library = blas_version<openblas64>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
