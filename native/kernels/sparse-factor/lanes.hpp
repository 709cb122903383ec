#pragma once

/// Local to each file that includes it: see dense.hpp.

#include "kernels/frame/vectors.hpp"
#include "kernels/sparse-factor/dense.hpp"

namespace {

/// Update elements of c in registers: two vectors of rows, and some columns.
template <class V, std::size_t columns>
inline void block(const Part& c, const double* rows, const double* across, std::size_t down,
                  std::size_t deep) {
    constexpr std::size_t lanes = sizeof(V) / sizeof(double);
    V sum[columns][2] = {};
    for (std::size_t k = 0; k < deep; ++k, rows += down, across += down) {
        V x[2];
        __builtin_memcpy(x, rows, sizeof x);
#pragma GCC unroll 4
        for (std::size_t j = 0; j < columns; ++j) {
            sum[j][0] += x[0] * across[j];
            sum[j][1] += x[1] * across[j];
        }
    }
#pragma GCC unroll 4
    for (std::size_t j = 0; j < columns; ++j) {
        V before[2];
        __builtin_memcpy(before, c.at(0, j), sizeof before);
        before[0] -= sum[j][0];
        before[1] -= sum[j][1];
        __builtin_memcpy(c.at(0, j), before, 2 * lanes * sizeof(double));
    }
}

/// Products of matrices in registers, for as many rows at a time as fit a cache together with the columns of
/// a.
template <class V>
struct Lanes {
    static constexpr std::size_t strip = 2 * sizeof(V) / sizeof(double);
    static constexpr std::size_t wide = 4, deepest = 128, max_rows = 128;

    static void subtract_product(const Part& c, std::size_t rows, std::size_t columns, const Part& a,
                                 std::size_t deep) {
        for (std::size_t k = 0; k < deep; k += deepest)
            for (std::size_t i = 0; i < rows; i += max_rows)
                some_rows(c, i, minimum(i + max_rows, rows), columns, {a.at(0, k), a.down},
                          minimum(deepest, deep - k));
    }

    /// Elements above the diagonal may be computed as well, if their neighbours are.
    static void some_rows(const Part& c, std::size_t first, std::size_t last, std::size_t columns,
                          const Part& a, std::size_t deep) {
        for (std::size_t j = 0; j < columns && j < last; j += wide) {
            const std::size_t across = minimum(wide, columns - j);
            std::size_t i = first > j ? first : j;
            for (; i + strip <= last; i += strip) {
                const Part to = {c.at(i, j), c.down};
                if (across == wide) {
                    block<V, wide>(to, a.at(i, 0), a.at(j, 0), a.down, deep);
                } else {
                    for (std::size_t l = 0; l < across; ++l)
                        block<V, 1>({to.at(0, l), c.down}, a.at(i, 0), a.at(j + l, 0), a.down, deep);
                }
            }
            for (std::size_t l = j; l < j + across; ++l)
                for (std::size_t k = 0; k < deep; ++k) {
                    const double factor = *a.at(l, k);
                    for (std::size_t r = i; r < last; ++r) *c.at(r, l) -= factor * *a.at(r, k);
                }
        }
    }
};

} // namespace
