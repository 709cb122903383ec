#pragma once

/// Shared by variants for different processors. Everything here is local to the including file: of a function
/// with one definition per program, the linker might keep the version for a newer processor.

#include "kernels/integral-tiles/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Contraction;

/// A range of one index.
struct Range {
    std::size_t first, count;
};

/// Return the tile's range of an index that begins at `first`.
inline Range range(const Contraction& w, std::size_t first) {
    return {first, w.n - first < w.tile ? w.n - first : w.tile};
}

/// A tile: its ranges, and its integrals.
struct Tile {
    Range i, j, k, l;
    const double* at;
};

/// Return the tile that begins at the given indices. The tiles before it fill their part of the tensor
/// without gaps, so its offset is a number of elements.
inline Tile tile(const Contraction& w, std::size_t i, std::size_t j, std::size_t k, std::size_t l) {
    Tile t{range(w, i), range(w, j), range(w, k), range(w, l), nullptr};
    const std::size_t n = w.n;
    t.at = w.integrals + i * n * n * n + t.i.count * (j * n * n + t.j.count * (k * n + t.k.count * l));
    return t;
}

/// Return one integral.
inline double integral(const Contraction& w, std::size_t i, std::size_t j, std::size_t k, std::size_t l) {
    const std::size_t side = w.tile;
    const Tile t = tile(w, i / side * side, j / side * side, k / side * side, l / side * side);
    const std::size_t row = ((i - t.i.first) * t.j.count + j - t.j.first) * t.k.count + k - t.k.first;
    return t.at[row * t.l.count + l - t.l.first];
}

/// Set the rows of a range to zero in both matrices.
inline void clear(const Contraction& w, Range i) {
    for (std::size_t at = i.first * w.n; at < (i.first + i.count) * w.n; ++at)
        w.coulomb[at] = w.exchange[at] = 0.0;
}

/// Adds the integrals of a tile one by one.
struct OneByOne {
    static void add(const Contraction& w, const Tile& t) {
        const double* v = t.at;
        for (std::size_t i = t.i.first; i < t.i.first + t.i.count; ++i)
            for (std::size_t j = t.j.first; j < t.j.first + t.j.count; ++j)
                for (std::size_t k = t.k.first; k < t.k.first + t.k.count; ++k) {
                    double coulomb = 0.0, exchange = 0.0;
                    for (std::size_t l = t.l.first; l < t.l.first + t.l.count; ++l, ++v) {
                        coulomb += *v * w.density[k * w.n + l];
                        exchange += *v * w.density[j * w.n + l];
                    }
                    w.coulomb[i * w.n + j] += coulomb;
                    w.exchange[i * w.n + k] += exchange;
                }
    }
};

/// Process all tiles of some rows, in the order of memory.
template <class Way>
inline void rows_of(const Contraction& w, std::size_t i) {
    clear(w, range(w, i));
    for (std::size_t j = 0; j < w.n; j += w.tile)
        for (std::size_t k = 0; k < w.n; k += w.tile)
            for (std::size_t l = 0; l < w.n; l += w.tile) Way::add(w, tile(w, i, j, k, l));
}

template <class Way>
void tile_by_tile(const Contraction& w) {
    for (std::size_t i = 0; i < w.n; i += w.tile) rows_of<Way>(w, i);
}

} // namespace
