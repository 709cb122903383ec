#pragma once

/// Shared by variants for different processors. Everything here is local to the including file: of a function
/// with one definition per program, the linker might keep the version for a newer processor.

#include <cstddef>

namespace {

inline std::size_t minimum(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

/// A part of a matrix that is stored column by column.
struct Part {
    double* first;
    std::size_t down; ///< Distance between columns.

    [[nodiscard]] double* at(std::size_t i, std::size_t j) const { return first + i + j * down; }
};

/// Products of matrices, column by column.
struct Plain {
    /// Subtract the product of rows i and j of a from each element (i, j) of c, on and below its diagonal.
    static void subtract_product(const Part& c, std::size_t rows, std::size_t columns, const Part& a,
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

/// Replace columns of a symmetric matrix by those of its factor: each column is divided, and its product is
/// subtracted from the columns behind it.
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

/// Factor columns in groups of few columns, from which the previous columns are subtracted by a matrix
/// product.
template <class Dense>
inline void factor(const Part& a, std::size_t rows, std::size_t columns) {
    constexpr std::size_t few = 32;
    for (std::size_t k = 0; k < columns; k += few) {
        const std::size_t some = minimum(few, columns - k);
        if (k) Dense::subtract_product({a.at(k, k), a.down}, rows - k, some, {a.at(k, 0), a.down}, k);
        factor_columns({a.at(k, k), a.down}, rows - k, some);
    }
}

} // namespace
