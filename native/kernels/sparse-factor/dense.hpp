#pragma once

/// Shared by variants for different processors, so all of it is local to the file that includes it: a
/// function with one definition for the whole program would be the one for the newest processor.

#include <cstddef>

namespace {

inline std::size_t least(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

/// A part of a matrix that is stored column by column.
struct Part {
    double* first;
    std::size_t down; ///< Distance between columns.

    [[nodiscard]] double* at(std::size_t i, std::size_t j) const { return first + i + j * down; }
};

/// Products of matrices, a column of one at a time.
struct Plain {
    /// Takes out of each element (i, j) of c, on and below its diagonal, the product of the rows i and j of
    /// a.
    static void take_out(const Part& c, std::size_t rows, std::size_t columns, const Part& a,
                         std::size_t deep) {
        for (std::size_t j = 0; j < columns; ++j)
            for (std::size_t k = 0; k < deep; ++k) {
                const double factor = *a.at(j, k);
                const double* const from = a.at(0, k);
                double* const to = c.at(0, j);
#pragma GCC ivdep
                for (std::size_t i = j; i < rows; ++i) to[i] -= factor * from[i];
            }
    }
};

/// The columns of a matrix that is symmetric become those of its factor: each is divided, and taken out of
/// those behind it.
inline void factor_columns(const Part& a, std::size_t rows, std::size_t columns) {
    for (std::size_t k = 0; k < columns; ++k) {
        double* const pivot = a.at(0, k);
        pivot[k] = __builtin_sqrt(pivot[k]);
        for (std::size_t i = k + 1; i < rows; ++i) pivot[i] /= pivot[k];
        for (std::size_t j = k + 1; j < columns; ++j) {
            double* const to = a.at(0, j);
            const double factor = pivot[j];
#pragma GCC ivdep
            for (std::size_t i = j; i < rows; ++i) to[i] -= factor * pivot[i];
        }
    }
}

/// The same for few columns at a time, out of which those before them are taken by a product.
template <class Dense>
inline void factor(const Part& a, std::size_t rows, std::size_t columns) {
    constexpr std::size_t few = 32;
    for (std::size_t k = 0; k < columns; k += few) {
        const std::size_t some = least(few, columns - k);
        if (k) Dense::take_out({a.at(k, k), a.down}, rows - k, some, {a.at(k, 0), a.down}, k);
        factor_columns({a.at(k, k), a.down}, rows - k, some);
    }
}

} // namespace
