#pragma once

/// Strips combined in vector registers.

#include "kernels/xor-parity/groups.hpp"

#include <immintrin.h>

namespace {

/// 32 bytes.
struct Ymm {
    typedef __m256i Value;
    static constexpr std::size_t size = 32;
    static Value load(const unsigned char* from) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }
    static void store(unsigned char* to, Value v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v); }
    static void stream(unsigned char* to, Value v) { _mm256_stream_si256(reinterpret_cast<__m256i*>(to), v); }
    static Value add(Value a, Value b) { return _mm256_xor_si256(a, b); }
    static Value add(Value a, Value b, Value c) { return add(add(a, b), c); }
};

#ifdef __AVX512F__
/// 64 bytes.
struct Zmm {
    typedef __m512i Value;
    static constexpr std::size_t size = 64;
    static Value load(const unsigned char* from) { return _mm512_loadu_si512(from); }
    static void store(unsigned char* to, Value v) { _mm512_storeu_si512(to, v); }
    static void stream(unsigned char* to, Value v) { _mm512_stream_si512(reinterpret_cast<__m512i*>(to), v); }
    static Value add(Value a, Value b) { return _mm512_xor_si512(a, b); }
    /// 0x96 is the truth table of a ^ b ^ c (vpternlogq).
    static Value add(Value a, Value b, Value c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
};
#endif

/// The widest vectors of the instruction set that this file is compiled for.
#if defined(__AVX512F__)
typedef Zmm Register;
#else
typedef Ymm Register;
#endif

template <class V, bool streaming>
inline void put(unsigned char* to, typename V::Value value) {
    if (streaming)
        V::stream(to, value);
    else
        V::store(to, value);
}

/// Combine sources one by one: the target is read and written for each source.
template <class V>
inline void in_pairs(unsigned char* target, const unsigned char* const* sources, std::size_t count,
                     std::size_t n) {
    __builtin_memcpy(target, sources[0], n);
    for (std::size_t s = 1; s < count; ++s) {
        std::size_t i = 0;
        for (; i + V::size <= n; i += V::size)
            V::store(target + i, V::add(V::load(target + i), V::load(sources[s] + i)));
        for (; i < n; ++i) target[i] ^= sources[s][i];
    }
}

inline void bytes_of_all(unsigned char* target, const unsigned char* const* sources, std::size_t count,
                         std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        unsigned char sum = sources[0][i];
        for (std::size_t s = 1; s < count; ++s) sum ^= sources[s][i];
        target[i] = sum;
    }
}

/// Combine a number of sources that is known at compile time, so that their pointers stay in registers.
/// Several adjacent vectors are processed at once.
template <class V, bool streaming, std::size_t count>
inline void sum_of(unsigned char* target, const unsigned char* const* sources, std::size_t begin,
                   std::size_t end) {
    constexpr std::size_t side = 128 / V::size, step = side * V::size;
    std::size_t i = begin;
    for (; i + step <= end; i += step) {
        typename V::Value sum[side];
#pragma GCC unroll 4
        for (std::size_t k = 0; k < side; ++k) {
            const std::size_t at = i + k * V::size;
            sum[k] = V::load(sources[0] + at);
            std::size_t s = 1;
#pragma GCC unroll 8
            for (; s + 1 < count; s += 2)
                sum[k] = V::add(sum[k], V::load(sources[s] + at), V::load(sources[s + 1] + at));
            if (s < count) sum[k] = V::add(sum[k], V::load(sources[s] + at));
        }
#pragma GCC unroll 4
        for (std::size_t k = 0; k < side; ++k) put<V, streaming>(target + i + k * V::size, sum[k]);
    }
    bytes_of_all(target, sources, count, i, end);
}

/// Combine all sources at once, so that the target is written only once.
template <class V, bool streaming>
inline void at_once(unsigned char* target, const unsigned char* const* sources, std::size_t count,
                    std::size_t n) {
    if (count < disks) {
        bytes_of_all(target, sources, count, 0, n);
        return;
    }
    std::size_t begin = 0;
    if (streaming) {
        // Only whole aligned vectors can bypass the caches.
        begin = -reinterpret_cast<std::size_t>(target) % V::size;
        if (begin > n) begin = n;
        bytes_of_all(target, sources, count, 0, begin);
    }
    sum_of<V, streaming, disks>(target, sources, begin, n);
}

/// Compute both parities, with stores that bypass the caches if they are too small for the output. Such
/// stores are not ordered with others, so piece_by_piece and side_by_side end with a fence.
template <class V>
inline void both_past_caches(const Parity& p, std::size_t group, std::size_t begin, std::size_t n) {
    if (p.streaming) {
        both<at_once<V, true>>(p, group, begin, n);
    } else {
        both<at_once<V, false>>(p, group, begin, n);
    }
}

/// Return the offset of the next piece, or of a piece of the same group if there is none.
inline std::size_t next_piece(const Parity& p, std::size_t group, std::size_t begin) {
    if (begin + piece < p.strip) return group * disks * p.strip + begin + piece;
    return (group + 1 < groups_of(p) ? group + 1 : group) * disks * p.strip;
}

/// Compute both parities of a whole piece while reading it once, with the sums of rows and columns in
/// registers.
///
/// Hardware prefetchers cannot follow a hundred strips. With `ahead`, one cache line of the next piece is
/// prefetched for each cache line processed.
template <class V, bool streaming, bool ahead>
inline void square(const Parity& p, std::size_t group, std::size_t begin) {
    const std::size_t top = group * disks * p.strip;
    const std::size_t next = next_piece(p, group, begin);
    for (std::size_t i = begin; i < begin + piece; i += V::size) {
        std::size_t line[disks] = {};
        if (ahead) {
            // Row by row, the best order for memory.
            constexpr std::size_t in_row = piece / V::size;
            for (std::size_t r = 0; r < disks; ++r) {
                const std::size_t number = (i - begin) / V::size * disks + r;
                line[r] = next + number / in_row * p.strip + number % in_row * V::size;
            }
        }
        typename V::Value across[disks];
#pragma GCC unroll 10
        for (std::size_t j = 0; j < disks; j += 2) {
            const unsigned char *left = p.data[j], *right = p.data[j + 1];
            typename V::Value down_left, down_right;
#pragma GCC unroll 10
            for (std::size_t r = 0; r < disks; ++r) {
                if (ahead) {
                    __builtin_prefetch(left + line[r], 0, 2);
                    __builtin_prefetch(right + line[r], 0, 2);
                }
                const std::size_t at = top + r * p.strip + i;
                const auto a = V::load(left + at), b = V::load(right + at);
                down_left = r == 0 ? a : V::add(down_left, a);
                down_right = r == 0 ? b : V::add(down_right, b);
                across[r] = j == 0 ? V::add(a, b) : V::add(across[r], a, b);
            }
            unsigned char* vertical = p.vertical + top + j * p.strip + i;
            put<V, streaming>(vertical, down_left);
            put<V, streaming>(vertical + p.strip, down_right);
        }
#pragma GCC unroll 10
        for (std::size_t r = 0; r < disks; ++r)
            put<V, streaming>(p.horizontal + top + r * p.strip + i, across[r]);
    }
}

/// Compute whole pieces of whole groups by `square`, and the rest as both_past_caches does.
template <class V, bool ahead>
inline void squares(const Parity& p, std::size_t group, std::size_t begin, std::size_t n) {
    if (p.rebuild || stripes_in(p, group) < disks || n < piece) {
        both_past_caches<V>(p, group, begin, n);
        return;
    }
    const std::size_t places =
        p.strip | reinterpret_cast<std::size_t>(p.horizontal) | reinterpret_cast<std::size_t>(p.vertical);
    if (p.streaming && places % V::size == 0)
        square<V, true, ahead>(p, group, begin);
    else
        square<V, false, false>(p, group, begin);
}

} // namespace
