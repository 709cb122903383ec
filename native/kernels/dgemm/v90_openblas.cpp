// build: -O2
#include "kernels/dgemm/product.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> variant{
    .id = "lib-openblas",
    .parent = "naive",
    .why = "OpenBLAS of the distribution, all threads; where it takes the processor for another, "
           "OPENBLAS_CORETYPE tells it",
    .run = by_library<openblas>,
    .missing = missing_blas<openblas, Product>,
    .library = told_blas<openblas>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
