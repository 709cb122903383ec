#pragma once

/// Local to each file that includes it: see tiles.hpp.

#include "kernels/frame/vectors.hpp"
#include "kernels/integral-tiles/tiles.hpp"

namespace {

template <class V>
inline V load(const double* from) {
    V found;
    __builtin_memcpy(&found, from, sizeof(V));
    return found;
}

template <class V>
inline double sum(const V& lanes) {
    double found = 0.0;
    for (std::size_t i = 0; i < sizeof(V) / sizeof(double); ++i) found += lanes[i];
    return found;
}

/// Adds the integrals of a tile, several of a row at once, and the rest of a row one by one.
template <class V>
struct InLanes {
    static void add(const Contraction& w, const Tile& t) {
        constexpr std::size_t lanes = sizeof(V) / sizeof(double);
        const std::size_t full = t.l.count / lanes * lanes;
        const double* row = t.at;
        for (std::size_t i = t.i.first; i < t.i.first + t.i.count; ++i)
            for (std::size_t j = t.j.first; j < t.j.first + t.j.count; ++j) {
                const double* const across = w.density + j * w.n + t.l.first;
                V coulomb{};
                double beside = 0.0;
                for (std::size_t k = t.k.first; k < t.k.first + t.k.count; ++k, row += t.l.count) {
                    const double* const along = w.density + k * w.n + t.l.first;
                    V exchange{};
                    double rest = 0.0;
                    for (std::size_t l = 0; l < full; l += lanes) {
                        const V v = load<V>(row + l);
                        coulomb += v * load<V>(along + l);
                        exchange += v * load<V>(across + l);
                    }
                    for (std::size_t l = full; l < t.l.count; ++l) {
                        beside += row[l] * along[l];
                        rest += row[l] * across[l];
                    }
                    w.exchange[i * w.n + k] += sum(exchange) + rest;
                }
                w.coulomb[i * w.n + j] += sum(coulomb) + beside;
            }
    }
};

} // namespace
