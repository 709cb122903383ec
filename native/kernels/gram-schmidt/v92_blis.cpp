// build: -O2
#include "kernels/gram-schmidt/products.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> lib_blis{
    .id = "lib-blis",
    .parent = "modified",
    .why = "the same with BLIS, all threads",
    .isa = Isa::any,
    .broken = false,
    .run = by_products<blis>,
    .missing = missing_blas<blis, Base>,
    .cost = nullptr,
    .library = told_blas<blis>,
};

} // namespace

ASSAY_VARIANT(lib_blis);

} // namespace assay::kernels
