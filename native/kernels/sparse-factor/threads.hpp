#pragma once

/// Local to each file that includes it: see dense.hpp.

#include "kernels/sparse-factor/lanes.hpp"

namespace {

/// Products of matrices. All threads share large ones, and take one group of rows after another, since rows
/// further down are longer.
template <class V>
struct Threads {
    static void subtract_product(const Part& c, std::size_t rows, std::size_t columns, const Part& a,
                                 std::size_t deep) {
        constexpr std::size_t worth = std::size_t{1} << 20U;
        if (rows * columns * deep < worth) {
            Lanes<V>::subtract_product(c, rows, columns, a, deep);
            return;
        }
#pragma omp parallel for schedule(dynamic)
        for (std::size_t i = 0; i < rows; i += Lanes<V>::max_rows)
            for (std::size_t k = 0; k < deep; k += Lanes<V>::deepest)
                Lanes<V>::some_rows(c, i, minimum(i + Lanes<V>::max_rows, rows), columns,
                                    {a.at(0, k), a.down}, minimum(Lanes<V>::deepest, deep - k));
    }
};

} // namespace
