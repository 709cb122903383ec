// build: -O2
#include "kernels/dgemm/product.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> variant{
    .id = "lib-openblas64",
    .parent = "naive",
    .why = "OpenBLAS as it comes with numpy and scipy (scipy-openblas64), mostly newer; ASSAY_OPENBLAS64 "
           "says where it is",
    .run = by_library<openblas64>,
    .missing = missing_blas<openblas64, Product>,
    .library = told_blas<openblas64>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
