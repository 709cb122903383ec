#pragma once

/// One pass over the data; local to the including file.
///
/// The mean of each block of observations is subtracted from it while it is in a cache. Sums of products
/// within blocks, plus those of the differences between the blocks' means and the mean of all, are the sums
/// about the mean of all (decomposition of variance). So no digits cancel even if the mean is large relative
/// to the spread. Source: T. Chan, G. Golub, R. LeVeque, Algorithms for Computing the Sample Variance, The
/// American Statistician 37 (1983).

#include "kernels/pca/products.hpp"
#include "kernels/pca/scores.hpp"

#include <cstddef>

namespace {

inline std::size_t minimum(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

/// Return the number of observations in a block.
inline std::size_t rows_of(const Components& w, std::size_t block) {
    return minimum(w.block, w.n - block * w.block);
}

/// Find the means of a block as differences from the first observation of all. They are exact if all numbers
/// are equal, and accurate if means are large relative to spreads.
inline void average(const Components& w, std::size_t block) {
    const std::size_t p = w.p, count = rows_of(w, block);
    const double* const rows = w.x + block * w.block * p;
    const double* const origin = w.x;
    double* const means = w.means + block * p;
    zero(means, p);
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const double *a = rows + i * p, *b = a + p, *c = b + p, *d = c + p;
#pragma omp simd
        for (std::size_t j = 0; j < p; ++j)
            means[j] += ((a[j] - origin[j]) + (b[j] - origin[j])) + ((c[j] - origin[j]) + (d[j] - origin[j]));
    }
    for (; i < count; ++i)
#pragma omp simd
        for (std::size_t j = 0; j < p; ++j) means[j] += rows[i * p + j] - origin[j];
    const double over = 1.0 / static_cast<double>(count);
    for (std::size_t j = 0; j < p; ++j) means[j] *= over;
}

/// Compute the means of all observations from those of blocks, in the row behind them.
inline double* average_of_blocks(const Components& w) {
    double* const all = w.means + w.blocks * w.p;
    zero(all, w.p);
    for (std::size_t b = 0; b < w.blocks; ++b) {
        const double share = static_cast<double>(rows_of(w, b)) / static_cast<double>(w.n);
        for (std::size_t j = 0; j < w.p; ++j) all[j] += share * w.means[b * w.p + j];
    }
    return all;
}

/// Convert the means of blocks to rows that are weighted by the number of observations in the blocks.
inline void weigh_means(const Components& w) {
    double* const all = average_of_blocks(w);
    for (std::size_t b = 0; b < w.blocks; ++b) {
        const double weight = __builtin_sqrt(static_cast<double>(rows_of(w, b)));
        for (std::size_t j = 0; j < w.p; ++j) w.means[b * w.p + j] = weight * (w.means[b * w.p + j] - all[j]);
    }
    zero(all, w.p);
}

/// The rows of a block, at a distance of p, and the row to subtract from each of them.
struct Rows {
    const double* from;
    std::size_t count;
    const double* less;
    std::size_t next; ///< Number of elements that are read after these.
};

/// Find the means of a block, and return its rows.
///
/// \param less space for the means to subtract. Their rounding adds products of two errors to the sums, but
/// no product of an error and a spread, since w.means contains the exact differences.
inline Rows block_of(const Components& w, std::size_t block, double* less) {
    average(w, block);
    for (std::size_t j = 0; j < w.p; ++j) less[j] = w.x[j] + w.means[block * w.p + j];
    const std::size_t next = block + 1 < w.blocks ? rows_of(w, block + 1) * w.p : 0;
    return {w.x + block * w.block * w.p, rows_of(w, block), less, next};
}

/// Return rows of weighted means, from which nothing is subtracted.
inline Rows means_of(const Components& w, std::size_t group) {
    return {w.means + group * w.block * w.p, minimum(w.block, w.blocks - group * w.block),
            w.means + w.blocks * w.p, 0};
}

inline std::size_t groups_of(const Components& w) {
    return (w.blocks + w.block - 1) / w.block;
}

/// Sums of products by plain loops, row by row.
struct Plain {
    static void add(const Components& w, const Rows& rows, double* tile, double* sums) {
        for (std::size_t i = 0; i < rows.count; ++i)
#pragma omp simd
            for (std::size_t j = 0; j < w.p; ++j) tile[i * w.p + j] = rows.from[i * w.p + j] - rows.less[j];
        add_products(tile, rows.count, w.p, sums, w.wide);
    }
};

/// Compute correlations in both halves of w.matrix from sums of products in their lower half.
inline void correlate(const Components& w, const double* sums, std::size_t down) {
    for (std::size_t j = 0; j < w.p; ++j) w.spreads[j] = inverse(__builtin_sqrt(sums[j * down + j]));
    for (std::size_t j = 0; j < w.p; ++j) {
        for (std::size_t k = 0; k < j; ++k) {
            const double found = sums[j * down + k] * (w.spreads[j] * w.spreads[k]);
            w.matrix[j * w.p + k] = w.matrix[k * w.p + j] = found;
        }
        w.matrix[j * w.p + j] = w.spreads[j] > 0.0 ? 1.0 : 0.0;
    }
}

/// Compute correlations in one pass over the data, with one thread.
template <class Products>
void correlate_once(const Components& w) {
    zero(w.sums, w.wide * w.wide);
    for (std::size_t b = 0; b < w.blocks; ++b) Products::add(w, block_of(w, b, w.spreads), w.tiles, w.sums);
    weigh_means(w);
    for (std::size_t g = 0; g < groups_of(w); ++g) Products::add(w, means_of(w, g), w.tiles, w.sums);
    correlate(w, w.sums, w.wide);
}

} // namespace
