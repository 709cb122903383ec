// build: -O2
#include "kernels/dgemm/product.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> variant{
    .id = "lib-blis",
    .parent = "naive",
    .why = "BLIS, all threads",
    .run = by_library<blis>,
    .missing = missing_blas<blis, Product>,
    .library = blas_version<blis>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
