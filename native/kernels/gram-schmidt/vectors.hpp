#pragma once

/// Shared by variants for different processors. Everything here is local to the including file: of a function
/// with one definition per program, the linker might keep the version for a newer processor.

#include "kernels/frame/vectors.hpp"
#include "kernels/gram-schmidt/cost.hpp"

#include <cstddef>

namespace {

inline std::size_t minimum(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

template <class V>
V load(const double* from) {
    V found;
    __builtin_memcpy(&found, from, sizeof(V));
    return found;
}

constexpr std::size_t line = 64 / sizeof(double);

/// Prefetch elements at a distance of `ahead` into L2, for each vector of a group. Hardware prefetchers stop
/// at the end of a page, and each vector of a chunk ends there.
template <bool fetch, std::size_t group>
void look_ahead(const double* q, std::size_t stride, std::size_t ahead) {
    if constexpr (fetch) {
#pragma GCC unroll 8
        for (std::size_t g = 0; g < group; ++g) __builtin_prefetch(q + g * stride + ahead, 0, 2);
    }
}

/// Add to sums[g] the product of x with vector g of a group, over a range of elements.
///
/// \tparam chains number of independent sums for each vector: a multiply-add waits only for the previous one
/// of the same sum.
template <class V, std::size_t group, std::size_t chains, bool fetch>
void multiply(const double* q, std::size_t stride, const double* x, std::size_t count, std::size_t ahead,
              double* sums) {
    constexpr std::size_t lanes = sizeof(V) / sizeof(double);
    constexpr std::size_t step = lanes * chains < line ? line : lanes * chains;
    V sum[group][chains] = {};
    std::size_t k = 0;
    for (; k + step <= count; k += step) {
#pragma GCC unroll 8
        for (std::size_t c = 0; c < step / lanes; ++c) {
            if (c * lanes % line == 0) look_ahead<fetch, group>(q + k + c * lanes, stride, ahead);
            const V one = load<V>(x + k + lanes * c);
#pragma GCC unroll 8
            for (std::size_t g = 0; g < group; ++g)
                sum[g][c % chains] += one * load<V>(q + g * stride + k + lanes * c);
        }
    }
#pragma GCC unroll 8
    for (std::size_t g = 0; g < group; ++g) {
        double all = 0.0;
        for (std::size_t i = k; i < count; ++i) all += q[g * stride + i] * x[i];
#pragma GCC unroll 8
        for (std::size_t c = 1; c < chains; ++c) sum[g][0] += sum[g][c];
        for (std::size_t l = 0; l < lanes; ++l) all += sum[g][0][l];
        sums[g] += all;
    }
}

/// Subtract the components along the vectors of a group from x.
template <class V, std::size_t group, bool fetch>
void subtract(const double* q, std::size_t stride, const double* sums, double* x, std::size_t count,
              std::size_t ahead) {
    constexpr std::size_t lanes = sizeof(V) / sizeof(double);
    std::size_t k = 0;
    for (; k + line <= count; k += line) {
        look_ahead<fetch, group>(q + k, stride, ahead);
#pragma GCC unroll 2
        for (std::size_t c = 0; c < line; c += lanes) {
            V one = load<V>(x + k + c);
#pragma GCC unroll 8
            for (std::size_t g = 0; g < group; ++g) one -= sums[g] * load<V>(q + g * stride + k + c);
            __builtin_memcpy(x + k + c, &one, sizeof(V));
        }
    }
    for (; k < count; ++k)
        for (std::size_t g = 0; g < group; ++g) x[k] -= sums[g] * q[g * stride + k];
}

/// Products and updates of all vectors, over a range of elements from k, for `group` vectors at once.
template <class V, std::size_t group, bool fetch = false>
struct Chunk {
    static constexpr std::size_t chains = 8 / group;

    static void products(const Base& w, std::size_t k, std::size_t count, double* sums) {
        if constexpr (fetch) {
            if (w.ahead == 0) {
                Chunk<V, group>::products(w, k, count, sums);
                return;
            }
        }
        std::size_t i = 0;
        for (; i + group <= w.vectors; i += group)
            multiply<V, group, chains, fetch>(w.q + k + i * w.stride, w.stride, w.x + k, count, w.ahead,
                                              sums + i);
        for (; i < w.vectors; ++i)
            multiply<V, 1, 8, fetch>(w.q + k + i * w.stride, w.stride, w.x + k, count, w.ahead, sums + i);
    }

    static void take(const Base& w, const double* from, const double* sums, double* to, std::size_t k,
                     std::size_t count) {
        if constexpr (fetch) {
            if (w.ahead == 0) {
                Chunk<V, group>::take(w, from, sums, to, k, count);
                return;
            }
        }
        std::size_t i = 0;
        for (; i + group <= w.vectors; i += group)
            subtract<V, group, fetch>(from + k + i * w.stride, w.stride, sums + i, to + k, count, w.ahead);
        for (; i < w.vectors; ++i)
            subtract<V, 1, fetch>(from + k + i * w.stride, w.stride, sums + i, to + k, count, w.ahead);
    }
};

inline void zero(double* sums, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) sums[i] = 0.0;
}

template <class V>
void one_by_one(const Base& w) {
    zero(w.sums, w.vectors);
    for (std::size_t i = 0; i < w.vectors; ++i) {
        const std::size_t place = i * w.stride;
        multiply<V, 1, 8, false>(w.q + place, w.stride, w.x, w.n, 0, w.sums + i);
        subtract<V, 1, false>(w.q + place, w.stride, w.sums + i, w.x, w.n, 0);
        subtract<V, 1, false>(w.d + place, w.stride, w.sums + i, w.y, w.n, 0);
    }
}

template <class V>
void products_first(const Base& w) {
    zero(w.sums, w.vectors);
    Chunk<V, 1>::products(w, 0, w.n, w.sums);
    Chunk<V, 1>::take(w, w.q, w.sums, w.x, 0, w.n);
    Chunk<V, 1>::take(w, w.d, w.sums, w.y, 0, w.n);
}

template <class Way>
void by_chunks(const Base& w) {
    zero(w.sums, w.vectors);
    for (std::size_t k = 0; k < w.n; k += w.chunk) Way::products(w, k, minimum(w.chunk, w.n - k), w.sums);
    for (std::size_t k = 0; k < w.n; k += w.chunk)
        Way::take(w, w.q, w.sums, w.x, k, minimum(w.chunk, w.n - k));
    for (std::size_t k = 0; k < w.n; k += w.chunk)
        Way::take(w, w.d, w.sums, w.y, k, minimum(w.chunk, w.n - k));
}

/// Process chunks from the last to the first, since the last ones are still in a cache.
template <class Do>
void backwards(std::size_t first, std::size_t end, std::size_t chunk, const Do& work) {
    while (end > first) {
        const std::size_t k = first + (end - first - 1) / chunk * chunk;
        work(k, end - k);
        end = k;
    }
}

/// Compute products of elements from `first` to before `end`.
template <class Way>
void form(const Base& w, std::size_t first, std::size_t end, double* sums) {
    for (std::size_t k = first; k < end; k += w.chunk) Way::products(w, k, minimum(w.chunk, end - k), sums);
}

/// Do both updates of each chunk, from the last chunk to the first.
template <class Way>
void update(const Base& w, std::size_t first, std::size_t end, const double* of_q, const double* of_d) {
    backwards(first, end, w.chunk, [&w, of_q, of_d](std::size_t k, std::size_t count) {
        Way::take(w, w.q, of_q, w.x, k, count);
        Way::take(w, w.d, of_d, w.y, k, count);
    });
}

template <class Way>
void there_and_back(const Base& w) {
    zero(w.sums, w.vectors);
    form<Way>(w, 0, w.n, w.sums);
    update<Way>(w, 0, w.n, w.sums, w.sums);
}

/// Return the group of vectors that begins at vector i.
inline Base group_of(const Base& w, std::size_t i) {
    Base part = w;
    part.q += i * w.stride;
    part.d += i * w.stride;
    part.sums += i;
    part.vectors = minimum(w.together, w.vectors - i);
    return part;
}

/// Use the classical method within a group, and the modified one between groups.
template <class Way>
void by_groups_of(const Base& w) {
    for (std::size_t i = 0; i < w.vectors; i += w.together) there_and_back<Way>(group_of(w, i));
}

/// Use the classical method twice: the second pass removes the components that remain because of rounding.
/// Source: L. Giraud, J. Langou, M. Rozloznik, The loss of orthogonality in the Gram-Schmidt
/// orthogonalization process, Computers and Mathematics with Applications 50 (2005): twice is enough.
template <class Way>
void twice(const Base& w) {
    double* const again = w.own;
    zero(w.sums, w.vectors);
    zero(again, w.vectors);
    form<Way>(w, 0, w.n, w.sums);
    backwards(0, w.n, w.chunk, [&w, again](std::size_t k, std::size_t count) {
        Way::take(w, w.q, w.sums, w.x, k, count);
        Way::products(w, k, count, again);
    });
    for (std::size_t i = 0; i < w.vectors; ++i) w.sums[i] += again[i];
    for (std::size_t k = 0; k < w.n; k += w.chunk) {
        const std::size_t count = minimum(w.chunk, w.n - k);
        Way::take(w, w.q, again, w.x, k, count);
        Way::take(w, w.d, w.sums, w.y, k, count);
    }
}

} // namespace
