// build: -O2
#include "kernels/dgemm/product.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> lib_openblas{
    .id = "lib-openblas",
    .parent = "naive",
    .why = "OpenBLAS of the distribution, all threads; where it takes the processor for another, "
           "OPENBLAS_CORETYPE tells it",
    .isa = Isa::any,
    .broken = false,
    .run = by_library<openblas>,
    .missing = missing_blas<openblas, Product>,
    .cost = nullptr,
    .library = told_blas<openblas>,
};

} // namespace

ASSAY_VARIANT(lib_openblas);

} // namespace assay::kernels
