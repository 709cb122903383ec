#pragma once

/// Local to each file that includes it: see sweep.hpp.

#include "kernels/acoustic/sweep.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace {

typedef float Float8 __attribute__((vector_size(32)));
typedef float Float16 __attribute__((vector_size(64)));

/// The widest vectors of the instruction set that this file is compiled for.
#if defined(__AVX512F__)
typedef Float16 Floats;
#else
typedef Float8 Floats;
#endif

template <class V>
inline V load(const float* from) {
    V value;
    __builtin_memcpy(&value, from, sizeof(V));
    return value;
}

/// Return a vector whose elements are all equal to a number. It is computed as a difference, because a sum
/// with zero would change -0.
template <class V>
inline V all(float value) {
    return value - V{};
}

/// Neighbours along x, by loads that cross cache lines.
struct ByLoads {
    template <class V>
    static V add(V sum, V, const float* u, const float* c) {
#pragma GCC unroll 8
        for (std::ptrdiff_t k = 1; k <= radius; ++k) sum += all<V>(c[k]) * (load<V>(u + k) + load<V>(u - k));
        return sum;
    }
};

#if defined(__AVX512F__)
/// Neighbours along x, combined from three vectors by shifts (VALIGND): no load crosses a cache line.
struct ByShifts {
    static Float16 add(Float16 sum, Float16 middle, const float* u, const float* c) {
        return from<1>(sum, load<Float16>(u - 16), middle, load<Float16>(u + 16), c);
    }

  private:
    template <int k>
    static Float16 from(Float16 sum, Float16 left, Float16 middle, Float16 right, const float* c) {
        sum += all<Float16>(c[k]) * (shifted<k>(middle, right) + shifted<16 - k>(left, middle));
        if constexpr (k < radius) return from<k + 1>(sum, left, middle, right, c);
        return sum;
    }

    /// Return sixteen lanes from two concatenated vectors, beginning at lane k of the first. The mask selects
    /// all lanes; without a mask, GCC 12 would report an undefined vector (its bug 105593).
    template <int k>
    static Float16 shifted(Float16 first, Float16 second) {
        const __m512i low = _mm512_castps_si512(reinterpret_cast<__m512>(first));
        const __m512i high = _mm512_castps_si512(reinterpret_cast<__m512>(second));
        constexpr __mmask16 all_lanes = 0xffff;
        return reinterpret_cast<Float16>(
            _mm512_castsi512_ps(_mm512_maskz_alignr_epi32(all_lanes, high, low, k)));
    }
};
#endif

/// Add c_k times the k-th neighbours on both sides to the sums of `count` cells, which are `stride` apart.
/// Each vector is loaded only once for all sums that it is part of.
template <class V, int count>
inline void add_column(V* sums, const float* u, std::ptrdiff_t stride, const float* c) {
    V cells[std::size_t{count + 2 * radius}];
#pragma GCC unroll 32
    for (int i = 0; i < count + 2 * radius; ++i) cells[i] = load<V>(u + (i - radius) * stride);
#pragma GCC unroll 8
    for (int k = 1; k <= radius; ++k) {
        const V factor = all<V>(c[k]);
#pragma GCC unroll 16
        for (int i = 0; i < count; ++i) sums[i] += factor * (cells[i + radius + k] + cells[i + radius - k]);
    }
}

/// Shape of a tile of vectors.
///
/// \tparam Lanes a vector of floats. \tparam high rows. \tparam deep planes. \tparam AlongX way to read
/// neighbours in the same row. \tparam ahead true to prefetch data from memory one row of tiles in advance.
template <class Lanes, int high, int deep, class AlongX, bool ahead>
struct Tile {
    using V = Lanes;
    static constexpr std::ptrdiff_t rows = high, planes = deep, lanes = sizeof(V) / sizeof(float);
    static constexpr bool fetches = ahead;
    using Along = AlongX;
    template <int other_high, int other_deep>
    using Of = Tile<Lanes, other_high, other_deep, AlongX, false>;
};

/// Advance one vector in each row and plane of a tile.
template <class T>
inline void step_tile(const float* c, const float* u, float* written, const float* speed, std::ptrdiff_t row,
                      std::ptrdiff_t plane) {
    using V = typename T::V;
    constexpr int high = T::rows, deep = T::planes;
    V sums[std::size_t{high}][std::size_t{deep}];
#pragma GCC unroll 1
    for (int i = 0; i < high; ++i) {
        V column[std::size_t{deep}];
#pragma GCC unroll 16
        for (int j = 0; j < deep; ++j) column[j] = all<V>(c[0]) * load<V>(u + i * row + j * plane);
        add_column<V, deep>(column, u + i * row, plane, c);
#pragma GCC unroll 16
        for (int j = 0; j < deep; ++j) sums[i][j] = column[j];
    }
#pragma GCC unroll 1
    for (int j = 0; j < deep; ++j) {
        V column[std::size_t{high}];
#pragma GCC unroll 16
        for (int i = 0; i < high; ++i) column[i] = sums[i][j];
        add_column<V, high>(column, u + j * plane, row, c);
#pragma GCC unroll 16
        for (int i = 0; i < high; ++i) {
            const std::ptrdiff_t at = i * row + j * plane;
            const V middle = load<V>(u + at);
            const V laplacian = T::Along::add(column[i], middle, u + at, c);
            const V later = middle + middle - load<V>(written + at) + load<V>(speed + at) * laplacian;
            __builtin_memcpy(written + at, &later, sizeof(V));
        }
    }
}

/// Prefetch the lines that a tile reads from memory: new planes of u, the overwritten field and the speed.
template <class T>
inline void fetch(const float* u, const float* written, const float* speed, std::ptrdiff_t row,
                  std::ptrdiff_t plane) {
    for (std::ptrdiff_t j = 0; j < T::planes; ++j)
        for (std::ptrdiff_t i = 0; i < T::rows; ++i) {
            const std::ptrdiff_t at = i * row + j * plane;
            __builtin_prefetch(u + at + radius * plane);
            __builtin_prefetch(written + at);
            __builtin_prefetch(speed + at);
        }
}

/// Advance a row of tiles. \param ahead distance in elements to the row of tiles to prefetch.
template <class T>
inline void step_tiles(const Wave& w, const Step& step, std::ptrdiff_t y, std::ptrdiff_t z,
                       std::ptrdiff_t ahead) {
    const std::ptrdiff_t first = y * w.row + z * w.plane;
    for (std::ptrdiff_t x = first; x < first + w.nx; x += T::lanes) {
        if constexpr (T::fetches)
            fetch<T>(step.u + x + ahead, step.written + x + ahead, w.speed + x + ahead, w.row, w.plane);
        step_tile<T>(w.c, step.u + x, step.written + x, w.speed + x, w.row, w.plane);
    }
}

/// Advance as many planes of a box as a tile has.
template <class T>
inline void step_slab(const Wave& w, const Step& step, const Box& box, std::ptrdiff_t z) {
    std::ptrdiff_t y = box.y;
    for (; y + T::rows <= box.y_end; y += T::rows) {
        const bool more = y + 2 * T::rows <= box.y_end;
        const std::ptrdiff_t ahead = more ? T::rows * w.row
                                     : z + 2 * T::planes <= box.z_end
                                         ? T::planes * w.plane - (y - box.y) * w.row
                                         : 0;
        step_tiles<T>(w, step, y, z, ahead);
    }
    for (; y < box.y_end; ++y) step_tiles<typename T::template Of<1, T::planes>>(w, step, y, z, 0);
}

/// Advance one box in tiles, and the remaining planes and rows one by one.
template <class T>
inline void tiles_of(const Wave& w, const Step& step, const Box& box) {
    std::ptrdiff_t z = box.z;
    for (; z + T::planes <= box.z_end; z += T::planes) step_slab<T>(w, step, box, z);
    for (; z < box.z_end; ++z) step_slab<typename T::template Of<T::rows, 1>>(w, step, box, z);
}

} // namespace
