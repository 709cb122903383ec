// build: -O2
#include "kernels/lu/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = "lib-openblas64",
    .parent = "columns",
    .why = "OpenBLAS as it comes with numpy and scipy (scipy-openblas64), mostly newer; ASSAY_OPENBLAS64 "
           "says where it is",
    .run = by_library<openblas64_lapack>,
    .missing = missing_lapack<openblas64_lapack>,
    .library = told_lapack<openblas64_lapack>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
