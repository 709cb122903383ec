#pragma once

/// Standardised data as a copy; local to the including file.

#include "kernels/pca/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Components;

/// Return the inverse of a spread, or zero for zero.
inline double inverse(double spread) {
    return spread > 0.0 ? 1.0 / spread : 0.0;
}

/// Standardise as the formula is written, feature by feature: subtract the mean and divide by the root of the
/// sum of squares, so that sums of products are correlations. Means are computed from differences from the
/// first observation. So the mean of equal numbers is exact, and the spread of such a feature is exactly
/// zero.
[[maybe_unused]] void standardise(const Components& w) {
    for (std::size_t j = 0; j < w.p; ++j) {
        double sum = 0.0, squares = 0.0;
        for (std::size_t i = 0; i < w.n; ++i) sum += w.x[i * w.p + j] - w.x[j];
        const double mean = w.n ? w.x[j] + sum / static_cast<double>(w.n) : 0.0;
        for (std::size_t i = 0; i < w.n; ++i) {
            const double rest = w.x[i * w.p + j] - mean;
            squares += rest * rest;
        }
        const double over = inverse(__builtin_sqrt(squares));
        for (std::size_t i = 0; i < w.n; ++i) w.scores[i * w.p + j] = (w.x[i * w.p + j] - mean) * over;
    }
}

} // namespace
