// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/by_library.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> variant{
    .id = "triangle-openblas64",
    .parent = "svd-openblas64",
    .why = "singular values of the triangle after reflections of the data (dgelqf, then dgesdd): the vectors "
           "of observations are never formed",
    .run = by_triangle<openblas64_lapack>,
    .missing = missing_singular<openblas64_lapack>,
    .cost = by_triangle,
    .library = lapack_version<openblas64_lapack>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
