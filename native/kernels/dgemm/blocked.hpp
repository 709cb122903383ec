#pragma once

/// The article's blocking, shared by variants for different processors: all of it is local to the file that
/// includes it, for a function with one definition for the whole program would be the one for the newest.
///
/// So many columns of A (tile_k) are packed into strips of as many rows as one step of the innermost loop
/// takes, so many of them of B (tile_n) into strips of columns; each is then read in the order in which it is
/// stored. A tile of B stays in L2 while the strips of A pass by.
/// Source: K. Goto, R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, ACM TOMS 34 (2008).

#include "kernels/dgemm/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Product;

typedef double Four __attribute__((vector_size(32)));
typedef double Eight __attribute__((vector_size(64)));

/// Where a part of the product is.
struct Block {
    const double* a; ///< A strip of A.
    const double* b; ///< A strip of B.
    double* c;
    std::size_t down; ///< From one column of c to the next.
    std::size_t deep; ///< Columns of a, rows of b.
    bool add;         ///< To what c holds.
    std::size_t ahead_l2, ahead_l1;
};

/// Elements of C that are worked on at once: vectors of rows by `width` columns, and for what is left at the
/// right so many fewer, by steps, as there are.
template <class V, std::size_t vectors, std::size_t width, std::size_t step>
struct Shape {
    static constexpr std::size_t lanes = sizeof(V) / sizeof(double);
    static constexpr std::size_t rows = lanes * vectors;
    static constexpr std::size_t columns = width;
    static constexpr std::size_t fewer = step;
    static constexpr bool narrowest = width <= step;
};

/// C where it is: each step reads and writes them.
template <class V, std::size_t vectors, std::size_t width, std::size_t step>
struct InMemory : Shape<V, vectors, width, step> {
    using Shape<V, vectors, width, step>::lanes, Shape<V, vectors, width, step>::rows;
    using Shape<V, vectors, width, step>::columns;
    using Narrow = InMemory<V, vectors, width - step, step>;

    static void multiply(const Block& one) {
        if (!one.add)
            for (std::size_t j = 0; j < columns; ++j)
                for (std::size_t i = 0; i < rows; ++i) one.c[i + j * one.down] = 0.0;
        for (std::size_t p = 0; p < one.deep; ++p) {
            for (std::size_t j = 0; j < columns; ++j) {
                for (std::size_t v = 0; v < vectors; ++v) {
                    double* place = one.c + lanes * v + j * one.down;
                    V a, c;
                    __builtin_memcpy(&a, one.a + lanes * v + p * rows, sizeof(V));
                    __builtin_memcpy(&c, place, sizeof(V));
                    c += a * one.b[j + p * columns];
                    __builtin_memcpy(place, &c, sizeof(V));
                }
            }
        }
    }
};

/// C in registers until all steps are done.
template <class V, std::size_t vectors, std::size_t width, std::size_t step, bool fetch = false>
struct InRegisters : Shape<V, vectors, width, step> {
    using Shape<V, vectors, width, step>::lanes, Shape<V, vectors, width, step>::rows;
    using Shape<V, vectors, width, step>::columns;
    using Narrow = InRegisters<V, vectors, width - step, step, fetch>;

    static void multiply(const Block& one) {
        constexpr std::size_t line = 8;
        V c[columns][vectors] = {};
        const double* a = one.a;
        const double* b = one.b;
        if (fetch)
            for (std::size_t j = 0; j < columns; ++j) __builtin_prefetch(one.c + j * one.down, 1, 3);
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
            a += rows;
            b += columns;
        }
#pragma GCC unroll 32
        for (std::size_t j = 0; j < columns; ++j) {
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) {
                double* place = one.c + lanes * v + j * one.down;
                V before = {};
                if (one.add) __builtin_memcpy(&before, place, sizeof(V));
                before += c[j][v];
                __builtin_memcpy(place, &before, sizeof(V));
            }
        }
    }
};

inline std::size_t least(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

/// Rows of A that are packed together: what lies side by side in a column is read together.
template <class Core>
constexpr std::size_t group = Core::rows * 8;

/// Columns of A from p, `deep` of them: the strips of a group of rows that begins at row i. What is missing
/// of the rows of the last strip is zero.
template <class Core>
void pack_a(const Product& w, std::size_t p, std::size_t deep, std::size_t i) {
    const std::size_t rows = least(group<Core>, w.m - i), full = rows / Core::rows * Core::rows;
    double* const to = w.strips + i * deep;
    for (std::size_t q = 0; q < deep; ++q) {
        const double* from = w.a + i + (p + q) * w.m;
        for (std::size_t s = 0; s < full; s += Core::rows)
            __builtin_memcpy(to + s * deep + q * Core::rows, from + s, sizeof(double) * Core::rows);
        if (full == rows) continue;
        double* const last = to + full * deep + q * Core::rows;
        for (std::size_t r = 0; r < Core::rows; ++r) last[r] = full + r < rows ? from[full + r] : 0.0;
    }
}

/// Columns of the strip that holds `wide` columns, or as many of them as one holds.
template <class Core>
std::size_t strip(std::size_t wide) {
    return wide >= Core::columns ? Core::columns : (wide + Core::fewer - 1) / Core::fewer * Core::fewer;
}

/// The same of B: `wide` columns from j, in strips one after the other. So many rows at a time as a line of a
/// cache has, for each column's line is read once then, and what is written stays near.
template <class Core>
void pack_b(const Product& w, std::size_t p, std::size_t deep, std::size_t j, std::size_t wide,
            double* tile) {
    constexpr std::size_t line = 8;
    for (std::size_t s = 0; s < wide; s += Core::columns) {
        const double* const from = w.b + p + (j + s) * w.k;
        const std::size_t columns = strip<Core>(wide - s), there = least(columns, wide - s);
        for (std::size_t q = 0; q < deep; q += line) {
            double* const to = tile + s * deep + q * columns;
            if (q + line <= deep && there == Core::columns) {
                for (std::size_t l = 0; l < Core::columns; ++l)
#pragma GCC unroll 8
                    for (std::size_t r = 0; r < line; ++r) to[l + r * Core::columns] = from[q + r + l * w.k];
            } else {
                for (std::size_t l = 0; l < columns; ++l)
                    for (std::size_t r = 0; r < least(line, deep - q); ++r)
                        to[l + r * columns] = l < there ? from[q + r + l * w.k] : 0.0;
            }
        }
    }
}

/// C[i:, j:] of one strip of each: what does not fill it is worked on beside.
template <class Core>
void corner(const Product& w, Block one, std::size_t i, std::size_t j, std::size_t wide) {
    if constexpr (!Core::narrowest) {
        if (strip<Core>(wide) < Core::columns) {
            corner<typename Core::Narrow>(w, one, i, j, wide);
            return;
        }
    }
    const std::size_t rows = least(Core::rows, w.m - i), columns = least(Core::columns, wide);
    double* const place = w.c + i + j * w.m;
    if (rows == Core::rows && columns == Core::columns) {
        one.c = place;
        Core::multiply(one);
        return;
    }
    double beside[Core::rows * Core::columns];
    const bool add = one.add;
    one.c = beside;
    one.down = Core::rows;
    one.add = false;
    Core::multiply(one);
    for (std::size_t l = 0; l < columns; ++l)
        for (std::size_t r = 0; r < rows; ++r)
            place[r + l * w.m] = beside[r + l * Core::rows] + (add ? place[r + l * w.m] : 0.0);
}

/// All rows of C in `wide` columns from j, for `deep` columns of A from p.
template <class Core>
void tile(const Product& w, std::size_t p, std::size_t deep, std::size_t j, std::size_t wide, double* room) {
    pack_b<Core>(w, p, deep, j, wide, room);
    for (std::size_t i = 0; i < w.m; i += Core::rows) {
        for (std::size_t s = 0; s < wide; s += Core::columns) {
            const Block one = {w.strips + i * deep, room + s * deep, nullptr, w.m, deep, p > 0,
                               w.ahead_l2,          w.ahead_l1};
            corner<Core>(w, one, i, j + s, wide - s);
        }
    }
}

/// Parts as equal as can be of at most `most`, each a multiple of `unit`.
inline std::size_t part(std::size_t whole, std::size_t most, std::size_t unit) {
    const std::size_t parts = (whole + most - 1) / most;
    const std::size_t one = parts ? (whole + parts - 1) / parts : 1;
    return (one + unit - 1) / unit * unit;
}

template <class Core>
void serially(const Product& w) {
    if (w.k == 0)
        for (std::size_t i = 0; i < w.m * w.n; ++i) w.c[i] = 0.0;
    const std::size_t depth = part(w.k, w.tile_k, 1), width = part(w.n, w.tile_n, Core::columns);
    for (std::size_t p = 0; p < w.k; p += depth) {
        const std::size_t deep = least(depth, w.k - p);
        for (std::size_t i = 0; i < w.m; i += group<Core>) pack_a<Core>(w, p, deep, i);
        for (std::size_t j = 0; j < w.n; j += width)
            tile<Core>(w, p, deep, j, least(width, w.n - j), w.tiles);
    }
}

} // namespace
