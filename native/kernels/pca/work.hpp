#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Principal components: all eigenvalues and eigenvectors of the correlation matrix of p features.
///
/// A feature without spread (the same in every observation, or fewer than two observations) correlates with
/// no feature, not even with itself. Its row and column of the matrix are zero, so that the sum of the
/// eigenvalues is the number of the other features, as in a decomposition of standardised data.
struct Components {
    const double* x; ///< n observations one after another, each of p features.
    std::size_t n, p;
    double* values;  ///< p eigenvalues, the largest first.
    double* vectors; ///< p eigenvectors as rows, in the order of eigenvalues; their signs do not matter.

    double* scores;     ///< Space for standardised data.
    double* matrix;     ///< Space for p rows of p.
    double* means;      ///< Space for a row of p for each block of observations, and one more.
    double* spreads;    ///< Space for p.
    std::size_t block;  ///< Observations processed together.
    std::size_t blocks; ///< Number of such blocks.

    std::size_t wide; ///< p, rounded up to whole cache lines.
    double* tiles;    ///< Space for a block of each thread and a row more, of `wide`.
    double* sums;     ///< Space for sums of products of each thread: `wide` times `wide`.

    double* basis;      ///< Space for p rows on which rotations work.
    std::size_t across; ///< Distance between these rows.
    double* own;        ///< Space for the tridiagonal matrix and for rotations: see Tridiagonal.
    std::size_t* order; ///< Space for p.
};

/// Maximum number of sweeps of the QR algorithm whose rotations are applied together.
inline constexpr std::size_t max_sweeps = 32;
/// A multiple of the number of columns to which they are applied at once.
inline constexpr std::size_t slice = 32;
/// Number of elements of `own` for each feature.
inline constexpr std::size_t own_each = 4 + 2 * max_sweeps;

} // namespace assay::kernels
