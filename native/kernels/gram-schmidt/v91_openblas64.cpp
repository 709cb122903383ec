// build: -O2
#include "kernels/gram-schmidt/products.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = "lib-openblas64",
    .parent = "modified",
    .why = "the same with OpenBLAS of numpy and scipy (scipy-openblas64); ASSAY_OPENBLAS64 is its path",
    .run = by_products<openblas64>,
    .missing = missing_blas<openblas64, Base>,
    .library = blas_version<openblas64>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
