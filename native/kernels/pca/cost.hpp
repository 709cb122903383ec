#pragma once

/// Operations and bytes; local to each file that includes it.
///
/// Eigenvalues and vectors of a symmetric matrix count as 9 p^3 operations, whichever way they are found; the
/// singular values of p by n and the vectors of the short side as 6 n p^2 + 20 p^3, and those of the triangle
/// that remains of it as 21 p^3 (G. Golub, C. Van Loan, Matrix Computations, 8.3 and 5.4).

#include "kernels/pca/work.hpp"

namespace {

using assay::kernels::Components;
using assay::kernels::Cost;

/// Cost by operations, and by the number of passes over data; results are written.
inline Cost cost_of(const Components& w, double flops, double times, double written) {
    const double n = static_cast<double>(w.n), p = static_cast<double>(w.p);
    const double results = 8.0 * p * (p + 1.0);
    const double bytes = 8.0 * n * p * times + results;
    return {flops + 4.0 * n * p, p, bytes, bytes + 8.0 * n * p * written + results};
}

/// Two operations for each of n p (p + 1) / 2 products, and the eigenvalue problem.
inline double products_and_values(const Components& w) {
    const double n = static_cast<double>(w.n), p = static_cast<double>(w.p);
    return n * p * (p + 1.0) + 9.0 * p * p * p;
}

/// Data are read once.
[[maybe_unused]] inline Cost by_correlation(const Components& w) {
    return cost_of(w, products_and_values(w), 1.0, 0.0);
}

/// With a copy that has no means: data are read for the means and for the copy, which is written and read.
[[maybe_unused]] inline Cost by_centred_copy(const Components& w) {
    return cost_of(w, products_and_values(w), 4.0, 1.0);
}

/// With a copy whose spreads are one: they are found while the copy is made, which is then read and written.
[[maybe_unused]] inline Cost by_scaled_copy(const Components& w) {
    return cost_of(w, products_and_values(w), 6.0, 1.0);
}

/// With a copy: data are read for means, for spreads and for the copy, which is written and read.
[[maybe_unused]] inline Cost by_copy(const Components& w) {
    return cost_of(w, products_and_values(w), 5.0, 1.0);
}

/// A scaled copy is read and written by the reduction to a triangle, which remains in its place.
[[maybe_unused]] inline Cost by_triangle(const Components& w) {
    const double n = static_cast<double>(w.n), p = static_cast<double>(w.p);
    return cost_of(w, 2.0 * n * p * p + 21.0 * p * p * p, 7.0, 1.0);
}

[[maybe_unused]] inline Cost by_singular_values(const Components& w) {
    const double n = static_cast<double>(w.n), p = static_cast<double>(w.p);
    return cost_of(w, 6.0 * n * p * p + 20.0 * p * p * p, 7.0, 1.0);
}

} // namespace
