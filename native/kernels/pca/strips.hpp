#pragma once

/// Sums of products in registers; local to the including file.

#include "kernels/pca/blocks.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace {

constexpr std::size_t line = 8;

/// Sums of products of a block in strips, whose width in features is the number of elements of a vector. A
/// strip is read as vectors or element by element. Sums are symmetric, so only tiles on and below the
/// diagonal are computed.
///
/// \tparam ahead true to prefetch sums before they are needed, and a part of the next block into L2 with each
/// tile.
template <class V, bool ahead = false>
struct Strips {
    static constexpr std::size_t lanes = sizeof(V) / sizeof(double);
    /// Number of strips that are multiplied by another strip at once. With three, 3 * `lanes` vectors of sums
    /// stay in registers.
    static constexpr std::size_t together = 3;

    static V load(const double* from) {
        V found;
        __builtin_memcpy(&found, from, sizeof(V));
        return found;
    }

    static void store(double* to, V what) { __builtin_memcpy(to, &what, sizeof(V)); }

    /// Multiply the elements of one strip by the vectors of `vectors` other strips.
    template <std::size_t vectors>
    static void multiply(const double* others, std::size_t strip, const double* one, std::size_t rows,
                         double* sums, std::size_t down) {
        V found[lanes][vectors] = {};
        if (ahead)
            for (std::size_t r = 0; r < lanes; ++r)
#pragma GCC unroll 3
                for (std::size_t v = 0; v < vectors; ++v)
                    __builtin_prefetch(sums + r * down + v * lanes, 1, 3);
        for (std::size_t i = 0; i < rows; ++i, others += lanes, one += lanes) {
            V x[vectors];
#pragma GCC unroll 3
            for (std::size_t v = 0; v < vectors; ++v) x[v] = load(others + v * strip);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < lanes; ++r)
#pragma GCC unroll 3
                for (std::size_t v = 0; v < vectors; ++v) found[r][v] += x[v] * one[r];
        }
#pragma GCC unroll 8
        for (std::size_t r = 0; r < lanes; ++r) {
#pragma GCC unroll 3
            for (std::size_t v = 0; v < vectors; ++v) {
                double* const to = sums + r * down + v * lanes;
                store(to, load(to) + found[r][v]);
            }
        }
    }

    /// Pack strip s of a block, and subtract the means; missing features are zero.
    static void pack(const Components& w, const Rows& rows, std::size_t s, double* to) {
        const std::size_t first = s * lanes, there = minimum(lanes, w.p - first);
        const double* from = rows.from + first;
        if (there == lanes) {
            const V less = load(rows.less + first);
            for (std::size_t i = 0; i < rows.count; ++i, from += w.p, to += lanes)
                store(to, load(from) - less);
            return;
        }
        for (std::size_t i = 0; i < rows.count; ++i, from += w.p, to += lanes)
            for (std::size_t l = 0; l < lanes; ++l) to[l] = l < there ? from[l] - rows.less[first + l] : 0.0;
    }

    /// Return the number of tiles: columns of tiles are `together` strips wide.
    static std::size_t tiles_of(std::size_t strips) {
        std::size_t found = 0;
        for (std::size_t s = 0; s < strips; s += together) found += strips - s;
        return found;
    }

    static void add(const Components& w, const Rows& rows, double* tile, double* sums) {
        const std::size_t strips = (w.p + lanes - 1) / lanes, strip = w.block * lanes;
        if (strips == 0) return;
        for (std::size_t s = 0; s < strips; ++s) pack(w, rows, s, tile + s * strip);
        const double* fetched = rows.from + rows.count * w.p;
        const double* const end = fetched + rows.next;
        const std::size_t each = rows.next / tiles_of(strips) + line;
        for (std::size_t s = 0; s < strips; s += together) {
            const double* const others = tile + s * strip;
            for (std::size_t t = s; t < strips; ++t) {
                if (ahead)
                    for (std::size_t i = 0; i < each && fetched < end; i += line, fetched += line)
                        __builtin_prefetch(fetched, 0, 2);
                const double* const one = tile + t * strip;
                double* const to = sums + t * lanes * w.wide + s * lanes;
                if (t == s)
                    multiply<1>(others, strip, one, rows.count, to, w.wide);
                else if (t == s + 1)
                    multiply<2>(others, strip, one, rows.count, to, w.wide);
                else
                    multiply<3>(others, strip, one, rows.count, to, w.wide);
            }
        }
    }
};

template <class V, bool ahead = false>
void in_registers(const Components& w) {
    correlate_once<Strips<V, ahead>>(w);
    decompose<V>(w);
}

} // namespace
