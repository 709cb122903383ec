#pragma once

#include "kernels/dgemm/work.hpp"
#include "kernels/frame/blas_variant.hpp"

namespace {

using assay::kernels::Blas;
using assay::kernels::Product;

template <const Blas& (*blas)()>
void by_library(const Product& w) {
    blas().use_threads();
    blas().gemm(w.m, w.n, w.k, w.a, w.b, 0.0, w.c);
}

} // namespace
