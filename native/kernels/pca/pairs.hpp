#pragma once

/// A sum of products for each pair of features, as the formula is written; local to the including file.

#include "kernels/pca/scores.hpp"

namespace {

/// Compute the correlations of standardised data in both halves of w.matrix.
[[maybe_unused]] void multiply_pairs(const Components& w) {
    for (std::size_t j = 0; j < w.p; ++j) {
        for (std::size_t k = 0; k < w.p; ++k) {
            double sum = 0.0;
            for (std::size_t i = 0; i < w.n; ++i) sum += w.scores[i * w.p + j] * w.scores[i * w.p + k];
            w.matrix[j * w.p + k] = sum;
        }
    }
}

} // namespace
