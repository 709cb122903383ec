#pragma once

/// The innermost step of a product of matrices, shared by kernels that multiply matrices. Everything here is
/// local to the including file: of a function with one definition per program, the linker might keep the
/// version for a newer processor.

#include "kernels/frame/vectors.hpp"

#include <cstddef>

namespace {

/// Use of the previous elements of C.
enum class Into { instead, add, subtract };

/// Position of a part of the product.
struct Block {
    const double* a; ///< A strip of A.
    const double* b; ///< A strip of B.
    double* c;
    std::size_t down; ///< Distance between columns of c.
    std::size_t deep; ///< Number of columns of a, and of rows of b.
    Into into;
    std::size_t ahead_l2, ahead_l1;
};

/// Elements of C that are processed at once: `vectors` vectors of rows, and `width` columns. At the right
/// edge, there are fewer columns, in steps of `step`.
template <class V, std::size_t vectors, std::size_t width, std::size_t step>
struct Shape {
    static constexpr std::size_t lanes = sizeof(V) / sizeof(double);
    static constexpr std::size_t rows = lanes * vectors;
    static constexpr std::size_t columns = width;
    static constexpr std::size_t fewer = step;
    static constexpr bool narrowest = width <= step;
};

/// A product whose elements stay in registers until all steps are done.
///
/// \tparam apart distance between the elements of A for two steps. It is larger than the number of rows if
/// these are part of a higher strip.
template <class V, std::size_t vectors, std::size_t width, std::size_t step, bool fetch = false,
          std::size_t apart = sizeof(V) / sizeof(double) * vectors>
struct InRegisters : Shape<V, vectors, width, step> {
    using Shape<V, vectors, width, step>::lanes, Shape<V, vectors, width, step>::rows;
    using Shape<V, vectors, width, step>::columns;
    using Narrow = InRegisters<V, vectors, width - step, step, fetch, apart>;

    static void multiply(const Block& one) {
        constexpr std::size_t line = 8;
        V c[columns][vectors] = {};
        const double* a = one.a;
        const double* b = one.b;
        if (fetch)
            for (std::size_t j = 0; j < columns; ++j)
                for (std::size_t i = 0; i < rows; i += line)
                    __builtin_prefetch(one.c + i + j * one.down, 1, 3);
        for (std::size_t p = 0; p < one.deep; ++p) {
            if (fetch && one.ahead_l2) {
#pragma GCC unroll 8
                for (std::size_t i = 0; i < rows; i += line)
                    __builtin_prefetch(a + one.ahead_l2 * rows + i, 0, 2);
#pragma GCC unroll 8
                for (std::size_t j = 0; j < columns; j += line)
                    __builtin_prefetch(b + one.ahead_l2 * columns + j, 0, 2);
            }
            if (fetch && one.ahead_l1) {
#pragma GCC unroll 8
                for (std::size_t i = 0; i < rows; i += line)
                    __builtin_prefetch(a + one.ahead_l1 * rows + i, 0, 3);
#pragma GCC unroll 8
                for (std::size_t j = 0; j < columns; j += line)
                    __builtin_prefetch(b + one.ahead_l1 * columns + j, 0, 3);
            }
            V x[vectors];
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) __builtin_memcpy(&x[v], a + lanes * v, sizeof(V));
#pragma GCC unroll 32
            for (std::size_t j = 0; j < columns; ++j)
#pragma GCC unroll 4
                for (std::size_t v = 0; v < vectors; ++v) c[j][v] += x[v] * b[j];
            a += apart;
            b += columns;
        }
#pragma GCC unroll 32
        for (std::size_t j = 0; j < columns; ++j) {
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) {
                double* place = one.c + lanes * v + j * one.down;
                V before = {};
                if (one.into != Into::instead) __builtin_memcpy(&before, place, sizeof(V));
                before = one.into == Into::subtract ? before - c[j][v] : before + c[j][v];
                __builtin_memcpy(place, &before, sizeof(V));
            }
        }
    }
};

} // namespace
