#pragma once

#include "kernels/frame/blas_variant.hpp"
#include "kernels/lu/work.hpp"

namespace {

using assay::kernels::Blas;
using assay::kernels::Matrix;

template <const Blas& (*blas)()>
const char* missing_factors(const Matrix&) {
    return blas().missing_factors();
}

template <const Blas& (*blas)()>
void by_library(const Matrix& w) {
    blas().use_threads();
    *w.singular = blas().getrf(w.n, w.a, w.exchanged);
}

} // namespace
