#pragma once

/// Matrices in strips, each stored in the order in which the innermost step of a product reads it.
/// Source: K. Goto, R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, ACM TOMS 34 (2008).

#include "kernels/product/registers.hpp"

#include <cstddef>

namespace {

inline std::size_t minimum(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

/// Number of rows of A that are packed together, so that contiguous elements of a column are read together.
template <class Core>
constexpr std::size_t group = Core::rows * 8;

/// Pack `deep` columns of A, which are `down` elements apart, into strips of rows. There are `high` rows, at
/// most one group. Missing rows of the last strip are zero.
template <class Core>
void pack_a(const double* a, std::size_t down, std::size_t high, std::size_t deep, double* to) {
    const std::size_t full = high / Core::rows * Core::rows;
    for (std::size_t q = 0; q < deep; ++q) {
        const double* from = a + q * down;
        for (std::size_t s = 0; s < full; s += Core::rows)
            __builtin_memcpy(to + s * deep + q * Core::rows, from + s, sizeof(double) * Core::rows);
        if (full == high) continue;
        double* const last = to + full * deep + q * Core::rows;
        for (std::size_t r = 0; r < Core::rows; ++r) last[r] = full + r < high ? from[full + r] : 0.0;
    }
}

/// Return the number of columns of the narrowest strip for `wide` columns, or of the widest strip if there
/// are more.
template <class Core>
std::size_t strip(std::size_t wide) {
    return wide >= Core::columns ? Core::columns : (wide + Core::fewer - 1) / Core::fewer * Core::fewer;
}

/// Pack `wide` columns of `high` rows of B, in strips of `deep` rows. The rows of a cache line are processed
/// at a time, so that each line of a column is read once, and the output stays in a cache.
template <class Core>
void pack_b(const double* b, std::size_t down, std::size_t high, std::size_t deep, std::size_t wide,
            double* tile) {
    constexpr std::size_t line = 8;
    for (std::size_t s = 0; s < wide; s += Core::columns) {
        const double* const from = b + s * down;
        const std::size_t columns = strip<Core>(wide - s), there = minimum(columns, wide - s);
        for (std::size_t q = 0; q < high; q += line) {
            double* const to = tile + s * deep + q * columns;
            if (q + line <= high && there == Core::columns) {
                for (std::size_t l = 0; l < Core::columns; ++l)
#pragma GCC unroll 8
                    for (std::size_t r = 0; r < line; ++r) to[l + r * Core::columns] = from[q + r + l * down];
            } else {
                for (std::size_t l = 0; l < columns; ++l)
                    for (std::size_t r = 0; r < minimum(line, high - q); ++r)
                        to[l + r * columns] = l < there ? from[q + r + l * down] : 0.0;
            }
        }
    }
}

/// Multiply a strip of A and a strip of B into a part of C. Strips that extend beyond C are multiplied into a
/// buffer first.
template <class Core>
void corner(Block one, std::size_t high, std::size_t wide) {
    if constexpr (!Core::narrowest) {
        if (strip<Core>(wide) < Core::columns) {
            corner<typename Core::Narrow>(one, high, wide);
            return;
        }
    }
    const std::size_t rows = minimum(Core::rows, high), columns = minimum(Core::columns, wide);
    if (rows == Core::rows && columns == Core::columns) {
        Core::multiply(one);
        return;
    }
    double beside[Core::rows * Core::columns];
    double* const place = one.c;
    const std::size_t down = one.down;
    for (std::size_t l = 0; l < Core::columns; ++l)
        for (std::size_t r = 0; r < Core::rows; ++r)
            beside[r + l * Core::rows] = r < rows && l < columns ? place[r + l * down] : 0.0;
    one.c = beside;
    one.down = Core::rows;
    Core::multiply(one);
    for (std::size_t l = 0; l < columns; ++l)
        for (std::size_t r = 0; r < rows; ++r) place[r + l * down] = beside[r + l * Core::rows];
}

} // namespace
