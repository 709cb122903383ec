// build: -O2
#include "kernels/lu/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> lib_openblas64{
    .id = "lib-openblas64",
    .parent = "columns",
    .why = "OpenBLAS as it comes with numpy and scipy (scipy-openblas64), mostly newer; ASSAY_OPENBLAS64 "
           "says where it is",
    .isa = Isa::any,
    .broken = false,
    .run = by_library<openblas64_lapack>,
    .missing = missing_lapack<openblas64_lapack>,
    .cost = nullptr,
    .library = told_lapack<openblas64_lapack>,
};

} // namespace

ASSAY_VARIANT(lib_openblas64);

} // namespace assay::kernels
