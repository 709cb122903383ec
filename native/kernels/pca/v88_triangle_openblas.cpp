// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/by_library.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> triangle_openblas{
    .id = "triangle-openblas",
    .parent = "svd-openblas",
    .why = "singular values of the triangle that reflections leave of the data (dgelqf, then "
           "dgesdd): the vectors of observations are never formed",
    .isa = Isa::any,
    .broken = false,
    .run = by_triangle<openblas_lapack>,
    .missing = missing_singular<openblas_lapack>,
    .cost = by_triangle,
    .library = told_lapack<openblas_lapack>,
};

} // namespace

ASSAY_VARIANT(triangle_openblas);

} // namespace assay::kernels
