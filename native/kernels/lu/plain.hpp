#pragma once

/// Steps of the factorisation on the matrix as it is, column by column.

#include "kernels/lu/work.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Matrix;

/// The pivot of column j: its largest element in size from the diagonal down to row `end`.
[[maybe_unused]] inline void choose(const Matrix& w, std::size_t j, std::size_t end) {
    const double* const column = w.a + j * w.n;
    std::size_t best = j;
    double most = -1.0;
    for (std::size_t i = j; i < end; ++i) {
        const double size = column[i] < 0.0 ? -column[i] : column[i];
        if (size > most) {
            most = size;
            best = i;
        }
    }
    w.exchanged[j] = static_cast<std::int64_t>(best);
    const auto number = static_cast<std::int64_t>(j);
    if (most == 0.0 && number < *w.singular) *w.singular = number;
}

/// Row j and that of its pivot, in columns from `first` to `end`.
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

/// Turns column j below the diagonal into one of L. The rest of a column without a pivot is zero, and stays.
[[maybe_unused]] inline void scale(const Matrix& w, std::size_t j) {
    double* const column = w.a + j * w.n;
    const double pivot = column[j];
    if (pivot == 0.0) return;
    for (std::size_t i = j + 1; i < w.n; ++i) column[i] /= pivot;
}

/// Column j of L is taken out of column c.
[[maybe_unused]] inline void take_out(const Matrix& w, std::size_t j, std::size_t c) {
    const double* const l = w.a + j * w.n;
    double* const column = w.a + c * w.n;
    const double u = column[j];
    for (std::size_t i = j + 1; i < w.n; ++i) column[i] -= l[i] * u;
}

} // namespace
