#pragma once

#include "kernels/frame/blas_variant.hpp"
#include "kernels/gram-schmidt/work.hpp"

namespace {

using assay::kernels::Base;
using assay::kernels::Blas;

/// Use the classical method, as three products of a matrix and a vector.
template <const Blas& (*blas)()>
void by_products(const Base& w) {
    // BLAS does not write the product of an empty matrix.
    for (std::size_t i = 0; i < w.vectors; ++i) w.sums[i] = 0.0;
    blas().use_threads();
    blas().gemv(true, w.n, w.vectors, 1.0, w.q, w.stride, w.x, 1.0, w.sums);
    blas().gemv(false, w.n, w.vectors, -1.0, w.q, w.stride, w.sums, 1.0, w.x);
    blas().gemv(false, w.n, w.vectors, -1.0, w.d, w.stride, w.sums, 1.0, w.y);
}

} // namespace
