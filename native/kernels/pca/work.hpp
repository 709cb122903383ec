#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Principal components: all eigenvalues and eigenvectors of the correlation matrix of p features.
///
/// A feature without spread (the same in every observation, or fewer than two observations) correlates with
/// nothing, nor with itself. Its row and column of the matrix are zero, so that the eigenvalues add up to the
/// number of the others, as in a decomposition of standardised data.
struct Components {
    const double* x; ///< n observations one after the other, each of p features.
    std::size_t n, p;
    double* values;  ///< p of them, the largest first.
    double* vectors; ///< p rows: that with the index of a value belongs to it; its sign is free.

    double* scores;     ///< Room for standardised data.
    double* matrix;     ///< Room for p rows of p.
    double* means;      ///< Room for a row of p for each block of observations, and one more.
    double* spreads;    ///< Room for p.
    std::size_t block;  ///< Observations processed together.
    std::size_t blocks; ///< Number of such blocks.

    std::size_t wide; ///< p, made up to whole lines of a cache.
    double* tiles;    ///< Room for a block of each thread and a row more, of `wide`.
    double* sums;     ///< Room for sums of products of each thread: `wide` times `wide`.

    double* basis;      ///< Room for p rows on which rotations work.
    std::size_t across; ///< Distance between these rows.
    double* own;        ///< Room for the tridiagonal matrix and for rotations: see Tridiagonal.
    std::size_t* order; ///< Room for p.
};

/// Sweeps of the QR algorithm whose rotations are kept until they are applied together.
inline constexpr std::size_t max_sweeps = 32;
/// Columns to which they are applied at once are a divisor of it.
inline constexpr std::size_t slice = 32;
/// Elements of `own` for each feature.
inline constexpr std::size_t own_each = 4 + 2 * max_sweeps;

} // namespace assay::kernels
