#pragma once

/// Centred and standardised data as a copy, block by block; local to the including file.

#include "kernels/pca/blocks.hpp"

namespace {

/// Subtract means from the data, into w.scores. The row of each block in w.means then contains the sums of
/// squares.
template <bool threads>
void centre(const Components& w) {
#pragma omp parallel for schedule(static) if (threads)
    for (std::size_t b = 0; b < w.blocks; ++b) average(w, b);
    double* const all = average_of_blocks(w);
    for (std::size_t j = 0; j < w.p; ++j) all[j] += w.n ? w.x[j] : 0.0;
#pragma omp parallel for schedule(static) if (threads)
    for (std::size_t b = 0; b < w.blocks; ++b) {
        double* const squares = w.means + b * w.p;
        zero(squares, w.p);
        for (std::size_t i = b * w.block; i < b * w.block + rows_of(w, b); ++i) {
            const double* const from = w.x + i * w.p;
            double* const to = w.scores + i * w.p;
#pragma omp simd
            for (std::size_t j = 0; j < w.p; ++j) {
                to[j] = from[j] - all[j];
                squares[j] += to[j] * to[j];
            }
        }
    }
}

/// Standardise the data, into w.scores, so that sums of products are correlations.
template <bool threads>
void standardise_rows(const Components& w) {
    centre<threads>(w);
    zero(w.spreads, w.p);
    for (std::size_t b = 0; b < w.blocks; ++b)
        for (std::size_t j = 0; j < w.p; ++j) w.spreads[j] += w.means[b * w.p + j];
    for (std::size_t j = 0; j < w.p; ++j) w.spreads[j] = inverse(__builtin_sqrt(w.spreads[j]));
#pragma omp parallel for schedule(static) if (threads)
    for (std::size_t i = 0; i < w.n; ++i) {
        double* const to = w.scores + i * w.p;
#pragma omp simd
        for (std::size_t j = 0; j < w.p; ++j) to[j] *= w.spreads[j];
    }
}

} // namespace
