// build: -O2
#include "kernels/dgemm/product.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> lib_blis{
    .id = "lib-blis",
    .parent = "naive",
    .why = "BLIS, all threads",
    .isa = Isa::any,
    .broken = false,
    .run = by_library<blis>,
    .missing = missing_blas<blis, Product>,
    .cost = nullptr,
    .library = told_blas<blis>,
};

} // namespace

ASSAY_VARIANT(lib_blis);

} // namespace assay::kernels
