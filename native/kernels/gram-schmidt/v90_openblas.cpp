// build: -O2
#include "kernels/gram-schmidt/products.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = "lib-openblas",
    .parent = "modified",
    .why = "the classical method as three products of a matrix and a vector (dgemv) of the distribution's "
           "OpenBLAS, all threads",
    .run = by_products<openblas>,
    .missing = missing_blas<openblas, Base>,
    .library = blas_version<openblas>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
