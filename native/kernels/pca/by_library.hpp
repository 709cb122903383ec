#pragma once

/// Methods that use a LAPACK; local to the including file.

#include "kernels/frame/lapack_variant.hpp"
#include "kernels/pca/copies.hpp"
#include "kernels/pca/cost.hpp"

namespace {

/// Return the reason why the variant is not available: the decomposition has as many vectors as observations
/// or features, whichever are fewer.
template <LapackOf lapack>
const char* missing_singular(const Components& w) {
    return w.n <= w.p ? "as many vectors as features need more observations than features"
                      : lapack().missing();
}

/// Use the library's product and eigenvalues. Its matrices are stored by columns, so its columns are rows
/// here.
template <LapackOf lapack>
void by_products(const Components& w) {
    lapack().use_threads();
    centre<true>(w);
    lapack().syrk(w.p, w.n, w.scores, w.sums, w.wide);
    correlate(w, w.sums, w.wide);
    lapack().eigen(w.p, w.matrix, w.own);
    for (std::size_t i = 0; i < w.p; ++i) {
        // The library's first eigenvalue is the smallest.
        const std::size_t from = w.p - 1 - i;
        w.values[i] = w.own[from];
        for (std::size_t j = 0; j < w.p; ++j) w.vectors[i * w.p + j] = w.matrix[from * w.p + j];
    }
}

inline void square_values(const Components& w) {
    for (std::size_t i = 0; i < w.p; ++i) w.values[i] *= w.values[i];
}

template <LapackOf lapack>
void by_singular_values(const Components& w) {
    lapack().use_threads();
    standardise_rows<true>(w);
    lapack().singular_of_wide(w.p, w.n, w.scores, w.values, w.vectors);
    square_values(w);
}

template <LapackOf lapack>
void by_triangle(const Components& w) {
    lapack().use_threads();
    standardise_rows<true>(w);
    lapack().triangle(w.p, w.n, w.scores, w.own);
    for (std::size_t j = 0; j < w.p; ++j)
        for (std::size_t i = 0; i < w.p; ++i) w.matrix[j * w.p + i] = i >= j ? w.scores[j * w.p + i] : 0.0;
    lapack().singular_of_square(w.p, w.matrix, w.values, w.vectors, w.sums);
    square_values(w);
}

} // namespace
