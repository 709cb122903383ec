#pragma once

/// Eigenvalues by rotations of two rows and columns at a time, until all other elements are zero. Source: G.
/// Golub, C. Van Loan, Matrix Computations, 8.5 (cyclic Jacobi).

#include "kernels/pca/work.hpp"

#include <cfloat>
#include <cstddef>

namespace {

using assay::kernels::Components;

/// Rotation that makes the element between two diagonal elements zero.
struct Rotation {
    double c, s;

    Rotation(double a, double beside, double b) {
        const double half = (b - a) / (2.0 * beside);
        const double tangent =
            __builtin_copysign(1.0, half) / (__builtin_fabs(half) + __builtin_sqrt(1.0 + half * half));
        c = 1.0 / __builtin_sqrt(1.0 + tangent * tangent);
        s = tangent * c;
    }

    void apply(double& a, double& b) const {
        const double before = a;
        a = c * before - s * b;
        b = s * before + c * b;
    }
};

/// Rotate all pairs once.
///
/// \return false if no pair had to be rotated.
inline bool jacobi_sweep(const Components& w, double small) {
    const std::size_t p = w.p;
    bool rotated = false;
    for (std::size_t i = 0; i < p; ++i) {
        for (std::size_t j = i + 1; j < p; ++j) {
            const double beside = w.matrix[i * p + j];
            if (!(__builtin_fabs(beside) > small)) continue;
            rotated = true;
            const Rotation rotation(w.matrix[i * p + i], beside, w.matrix[j * p + j]);
            for (std::size_t k = 0; k < p; ++k) rotation.apply(w.matrix[k * p + i], w.matrix[k * p + j]);
            for (std::size_t k = 0; k < p; ++k) rotation.apply(w.matrix[i * p + k], w.matrix[j * p + k]);
            w.matrix[i * p + j] = w.matrix[j * p + i] = 0.0;
            for (std::size_t k = 0; k < p; ++k)
                rotation.apply(w.basis[i * w.across + k], w.basis[j * w.across + k]);
        }
    }
    return rotated;
}

/// Diagonalise w.matrix, which is overwritten: eigenvalues are on its diagonal, eigenvectors are rows of the
/// basis.
inline void jacobi(const Components& w, std::size_t sweeps) {
    for (std::size_t i = 0; i < w.p; ++i)
        for (std::size_t j = 0; j < w.p; ++j) w.basis[i * w.across + j] = i == j ? 1.0 : 0.0;
    for (std::size_t sweep = 0; sweep < sweeps; ++sweep)
        if (!jacobi_sweep(w, DBL_EPSILON)) break;
}

} // namespace
