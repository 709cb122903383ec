// build: -O2
#include "kernels/dgemm/product.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> lib_openblas64{
    .id = "lib-openblas64",
    .parent = "naive",
    .why = "OpenBLAS as it comes with numpy and scipy (scipy-openblas64), mostly newer; ASSAY_OPENBLAS64 "
           "says where it is",
    .isa = Isa::any,
    .broken = false,
    .run = by_library<openblas64>,
    .missing = missing_blas<openblas64, Product>,
    .cost = nullptr,
    .library = told_blas<openblas64>,
};

} // namespace

ASSAY_VARIANT(lib_openblas64);

} // namespace assay::kernels
