#pragma once

/// Local to each file that includes it: see gram-schmidt/vectors.hpp.
///
/// The generalised conjugate residual method: S. Eisenstat, H. Elman, M. Schultz, Variational iterative
/// methods for nonsymmetric systems of linear equations, SIAM J. Numer. Anal. 20 (1983). Each step
/// orthogonalises one vector, with its companion, against all previous ones. This method is from the same
/// simulator as the kernel gram-schmidt.

#include "kernels/gram-schmidt/vectors.hpp"
#include "kernels/krylov/work.hpp"

namespace {

using assay::kernels::System;

/// Compute to = A from.
inline void multiply_matrix(const System& s, const double* __restrict from, double* __restrict to) {
    const std::size_t edge = s.edge, plane = edge * edge;
    for (std::size_t z = 0; z < edge; ++z)
        for (std::size_t y = 0; y < edge; ++y) {
            const std::size_t row = z * plane + y * edge;
            // Entries beyond the grid are zero, and their factors are not read.
            const double* under = from + (z > 0 ? row - plane : row);
            const double* over = from + (z + 1 < edge ? row + plane : row);
            const double* left = from + (y > 0 ? row - edge : row);
            const double* right = from + (y + 1 < edge ? row + edge : row);
            for (std::size_t x = 0; x < edge; ++x) {
                const std::size_t i = row + x;
                to[i] = s.centre[i] * from[i] + s.beside[2][i] * left[x] + s.beside[3][i] * right[x] +
                        s.beside[4][i] * under[x] + s.beside[5][i] * over[x];
            }
            for (std::size_t x = 1; x < edge; ++x) to[row + x] += s.beside[0][row + x] * from[row + x - 1];
            for (std::size_t x = 0; x + 1 < edge; ++x)
                to[row + x] += s.beside[1][row + x] * from[row + x + 1];
        }
}

inline double product_of(const double* a, const double* b, std::size_t n) {
    constexpr std::size_t chains = 16;
    double sum[chains] = {};
    std::size_t i = 0;
    for (; i + chains <= n; i += chains)
        for (std::size_t c = 0; c < chains; ++c) sum[c] += a[i + c] * b[i + c];
    for (; i < n; ++i) sum[0] += a[i] * b[i];
    double all = 0.0;
    for (const double one : sum) all += one;
    return all;
}

/// Compute the next direction, preconditioned by the diagonal, and its product with the matrix.
inline void begin_step(const System& s, const Base& base) {
    for (std::size_t i = 0; i < base.n; ++i) base.y[i] = s.residual[i] / s.centre[i];
    multiply_matrix(s, base.y, base.x);
}

/// Normalise the new vector, and remove its component from the residual.
inline void end_step(const System& s, const Base& base, double length) {
    const double scale = 1.0 / length;
    for (std::size_t i = 0; i < base.n; ++i) base.x[i] *= scale;
    for (std::size_t i = 0; i < base.n; ++i) base.y[i] *= scale;
    const double weight = product_of(base.x, s.residual, base.n);
    s.weights[base.vectors] = weight;
    for (std::size_t i = 0; i < base.n; ++i) s.solution[i] += weight * base.y[i];
    for (std::size_t i = 0; i < base.n; ++i) s.residual[i] -= weight * base.x[i];
}

/// \tparam orthogonalise function that removes the components of the new vector along the previous ones.
template <void (*orthogonalise)(const Base&)>
inline void solve(const System& s) {
    Base base = s.base;
    const double whole = __builtin_sqrt(product_of(s.right_side, s.right_side, base.n));
    std::size_t step = 0;
    for (; step < s.steps; ++step) {
        base.x = const_cast<double*>(base.q) + step * base.stride;
        base.y = const_cast<double*>(base.d) + step * base.stride;
        base.vectors = step;
        if (__builtin_sqrt(product_of(s.residual, s.residual, base.n)) <= System::rounding * whole) break;
        begin_step(s, base);
        if (step > 0) orthogonalise(base);
        end_step(s, base, __builtin_sqrt(product_of(base.x, base.x, base.n)));
    }
    *s.done = step;
}

} // namespace
