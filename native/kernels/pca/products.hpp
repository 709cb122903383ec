#pragma once

/// Sums of products of features; local to the including file.

#include "kernels/pca/work.hpp"

#include <cstddef>

namespace {

/// Add the products of every two features, over a range of rows, to the lower half of `sums`. Four rows are
/// processed at a time, so that each sum is read and written once for four products, and contiguous elements
/// are read.
inline void add_products(const double* rows, std::size_t count, std::size_t p, double* sums,
                         std::size_t down) {
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const double *a = rows + i * p, *b = a + p, *c = b + p, *d = c + p;
        for (std::size_t j = 0; j < p; ++j) {
            double* const to = sums + j * down;
#pragma omp simd
            for (std::size_t k = 0; k <= j; ++k)
                to[k] += (a[j] * a[k] + b[j] * b[k]) + (c[j] * c[k] + d[j] * d[k]);
        }
    }
    for (; i < count; ++i) {
        const double* const row = rows + i * p;
        for (std::size_t j = 0; j < p; ++j) {
            double* const to = sums + j * down;
#pragma omp simd
            for (std::size_t k = 0; k <= j; ++k) to[k] += row[j] * row[k];
        }
    }
}

inline void zero(double* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] = 0.0;
}

} // namespace
