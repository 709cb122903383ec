#pragma once

/// The article's blocking, shared by variants for different processors. Everything here is local to the
/// including file: of a function with one definition per program, the linker might keep the version for a
/// newer processor.
///
/// Tiles of A have `tile_k` columns, packed into strips with as many rows as the innermost loop processes at
/// once. Tiles of B have `tile_n` columns, packed into strips of columns. Both are read in the order in which
/// they are stored. A tile of B stays in L2 while the strips of A are read. Source: K. Goto, R. van de Geijn,
/// Anatomy of High-Performance Matrix Multiplication, ACM TOMS 34 (2008).

#include "kernels/dgemm/work.hpp"
#include "kernels/product/strips.hpp"

#include <cstddef>

namespace {

using assay::kernels::Product;

/// A product whose elements stay in memory: each step reads and writes them.
template <class V, std::size_t vectors, std::size_t width, std::size_t step>
struct InMemory : Shape<V, vectors, width, step> {
    using Shape<V, vectors, width, step>::lanes, Shape<V, vectors, width, step>::rows;
    using Shape<V, vectors, width, step>::columns;
    using Narrow = InMemory<V, vectors, width - step, step>;

    static void multiply(const Block& one) {
        if (one.into == Into::instead)
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

/// Pack `deep` columns of A, from column p, for the group of rows that begins at row i.
template <class Core>
void pack_group(const Product& w, std::size_t p, std::size_t deep, std::size_t i) {
    pack_a<Core>(w.a + i + p * w.m, w.m, minimum(group<Core>, w.m - i), deep, w.strips + i * deep);
}

/// Multiply `deep` columns of A, from column p, by a tile of B: this updates `wide` columns of C, from column
/// j.
template <class Core>
void tile(const Product& w, std::size_t p, std::size_t deep, std::size_t j, std::size_t wide, double* room) {
    pack_b<Core>(w.b + p + j * w.k, w.k, deep, deep, wide, room);
    for (std::size_t i = 0; i < w.m; i += Core::rows) {
        for (std::size_t s = 0; s < wide; s += Core::columns) {
            const Block one = {w.strips + i * deep,
                               room + s * deep,
                               w.c + i + (j + s) * w.m,
                               w.m,
                               deep,
                               p > 0 ? Into::add : Into::instead,
                               w.ahead_l2,
                               w.ahead_l1};
            corner<Core>(one, w.m - i, wide - s);
        }
    }
}

/// Return the size of parts into which `whole` is divided: at most `max_size`, as equal as possible, and then
/// rounded up to a multiple of `unit`.
inline std::size_t part(std::size_t whole, std::size_t max_size, std::size_t unit) {
    const std::size_t parts = (whole + max_size - 1) / max_size;
    const std::size_t one = parts ? (whole + parts - 1) / parts : 1;
    return (one + unit - 1) / unit * unit;
}

template <class Core>
void serially(const Product& w) {
    if (w.k == 0)
        for (std::size_t i = 0; i < w.m * w.n; ++i) w.c[i] = 0.0;
    const std::size_t depth = part(w.k, w.tile_k, 1), width = part(w.n, w.tile_n, Core::columns);
    for (std::size_t p = 0; p < w.k; p += depth) {
        const std::size_t deep = minimum(depth, w.k - p);
        for (std::size_t i = 0; i < w.m; i += group<Core>) pack_group<Core>(w, p, deep, i);
        for (std::size_t j = 0; j < w.n; j += width)
            tile<Core>(w, p, deep, j, minimum(width, w.n - j), w.tiles);
    }
}

} // namespace
