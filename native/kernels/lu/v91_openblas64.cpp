// build: -O2
#include "kernels/lu/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = "lib-openblas64",
    .parent = "columns",
    .why = "OpenBLAS of numpy and scipy (scipy-openblas64), usually newer; ASSAY_OPENBLAS64 is its path",
    .run = by_library<openblas64_lapack>,
    .missing = missing_lapack<openblas64_lapack>,
    .library = lapack_version<openblas64_lapack>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
