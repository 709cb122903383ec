// build: -O2
#include "kernels/gram-schmidt/products.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = "lib-openblas64",
    .parent = "modified",
    .why = "the same with OpenBLAS as it comes with numpy and scipy (scipy-openblas64); ASSAY_OPENBLAS64 "
           "says where it is",
    .run = by_products<openblas64>,
    .missing = missing_blas<openblas64, Base>,
    .library = told_blas<openblas64>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
