#pragma once

/// Steps of the factorisation in the matrix itself, column by column.

#include "kernels/lu/work.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Matrix;

/// Find the pivot of column j: the element with the largest absolute value, from the diagonal to before row
/// `end`.
[[maybe_unused]] inline void choose(const Matrix& w, std::size_t j, std::size_t end) {
    const double* const column = w.a + j * w.n;
    std::size_t best = j;
    double largest = -1.0;
    for (std::size_t i = j; i < end; ++i) {
        const double size = column[i] < 0.0 ? -column[i] : column[i];
        if (size > largest) {
            largest = size;
            best = i;
        }
    }
    w.exchanged[j] = static_cast<std::int64_t>(best);
    const auto number = static_cast<std::int64_t>(j);
    if (largest == 0.0 && number < *w.singular) *w.singular = number;
}

/// Exchange row j and the row of its pivot, in the columns from `first` to before `end`.
[[maybe_unused]] inline void exchange_row(const Matrix& w, std::size_t j, std::size_t first,
                                          std::size_t end) {
    const auto row = static_cast<std::size_t>(w.exchanged[j]);
    if (row == j) return;
    for (std::size_t c = first; c < end; ++c) {
        double* const column = w.a + c * w.n;
        const double before = column[j];
        column[j] = column[row];
        column[row] = before;
    }
}

/// Compute column j of L below the diagonal. In a column without a pivot, these elements are zero and are not
/// changed.
[[maybe_unused]] inline void scale(const Matrix& w, std::size_t j) {
    double* const column = w.a + j * w.n;
    const double pivot = column[j];
    if (pivot == 0.0) return;
    for (std::size_t i = j + 1; i < w.n; ++i) column[i] /= pivot;
}

/// Subtract a multiple of column j of L from column c.
[[maybe_unused]] inline void subtract(const Matrix& w, std::size_t j, std::size_t c) {
    const double* const l = w.a + j * w.n;
    double* const column = w.a + c * w.n;
    const double u = column[j];
    for (std::size_t i = j + 1; i < w.n; ++i) column[i] -= l[i] * u;
}

} // namespace
