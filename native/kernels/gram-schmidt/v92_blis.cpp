// build: -O2
#include "kernels/gram-schmidt/products.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> variant{
    .id = "lib-blis",
    .parent = "modified",
    .why = "the same with BLIS, all threads",
    .run = by_products<blis>,
    .missing = missing_blas<blis, Base>,
    .library = blas_version<blis>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
