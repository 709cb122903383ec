#pragma once

/// Operations and bytes; local to the including file.
///
/// Eigenvalues and eigenvectors of a symmetric matrix count as 9 p^3 operations, by any method. Singular
/// values of a matrix of p by n, with the vectors of the short side, count as 6 n p^2 + 20 p^3, and those of
/// its triangle as 21 p^3 (G. Golub, C. Van Loan, Matrix Computations, 8.3 and 5.4).

#include "kernels/pca/work.hpp"

namespace {

using assay::kernels::Components;
using assay::kernels::Cost;

/// Return the cost from the number of operations and of passes over the data; results are written.
inline Cost cost_of(const Components& w, double flops, double times, double written) {
    const double n = static_cast<double>(w.n), p = static_cast<double>(w.p);
    const double results = 8.0 * p * (p + 1.0);
    const double bytes = 8.0 * n * p * times + results;
    return {flops + 4.0 * n * p, p, bytes, bytes + 8.0 * n * p * written + results};
}

/// Return two operations for each of n p (p + 1) / 2 products, plus those of the eigenvalue problem.
inline double products_and_values(const Components& w) {
    const double n = static_cast<double>(w.n), p = static_cast<double>(w.p);
    return n * p * (p + 1.0) + 9.0 * p * p * p;
}

/// Return the cost if data are read once.
[[maybe_unused]] inline Cost by_correlation(const Components& w) {
    return cost_of(w, products_and_values(w), 1.0, 0.0);
}

/// Return the cost with a centred copy: data are read for the means and for the copy, which is written and
/// read.
[[maybe_unused]] inline Cost by_centred_copy(const Components& w) {
    return cost_of(w, products_and_values(w), 4.0, 1.0);
}

/// Return the cost with a standardised copy: spreads are found while data are centred, and then the copy is
/// read and written.
[[maybe_unused]] inline Cost by_scaled_copy(const Components& w) {
    return cost_of(w, products_and_values(w), 6.0, 1.0);
}

/// Return the cost with a copy: data are read for means, for spreads and for the copy, which is written and
/// read.
[[maybe_unused]] inline Cost by_copy(const Components& w) {
    return cost_of(w, products_and_values(w), 5.0, 1.0);
}

/// Return the cost with a triangle: a standardised copy is read and written by the reduction to a triangle in
/// its place.
[[maybe_unused]] inline Cost by_triangle(const Components& w) {
    const double n = static_cast<double>(w.n), p = static_cast<double>(w.p);
    return cost_of(w, 2.0 * n * p * p + 21.0 * p * p * p, 7.0, 1.0);
}

[[maybe_unused]] inline Cost by_singular_values(const Components& w) {
    const double n = static_cast<double>(w.n), p = static_cast<double>(w.p);
    return cost_of(w, 6.0 * n * p * p + 20.0 * p * p * p, 7.0, 1.0);
}

} // namespace
