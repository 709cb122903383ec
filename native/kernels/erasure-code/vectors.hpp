#pragma once

/// Products of vectors of bytes. Everything here is local to the including file: of a function with one
/// definition per program, the linker might keep the version for a newer processor.

#include "kernels/erasure-code/work.hpp"

#include <immintrin.h>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

using assay::kernels::Code;
using assay::kernels::sources;
using assay::kernels::targets;

/// Compute bytes from `begin` to before `end` of the targets from `first` to before `last`.
inline void bytes_of(const Code& c, std::size_t first, std::size_t last, std::size_t begin, std::size_t end) {
    for (std::size_t t = first; t < last; ++t) {
        for (std::size_t i = begin; i < end; ++i) {
            unsigned char sum = 0;
            for (std::size_t s = 0; s < sources; ++s) sum ^= c.product[t * sources + s][c.source[s][i]];
            c.target[t][i] = sum;
        }
    }
}

/// Vectors of 32 bytes, multiplied by two table look-ups of four bits each (Plank, Greenan and Miller,
/// Screaming fast Galois field arithmetic using Intel SIMD instructions, FAST 2013).
struct Ymm {
    typedef __m256i Value;
    static constexpr std::size_t size = 32;
    /// Number of adjacent vectors that are multiplied by a coefficient while it is in a register.
    static constexpr std::size_t side = 2;
    struct Factor {
        Value low, high;
    };
    /// A vector of a source, prepared for multiplication.
    struct Halves {
        Value low, high;
    };

    static Factor factor(const Code& c, std::size_t k) {
        const auto* from = reinterpret_cast<const __m128i*>(c.nibbles[k]);
        return {_mm256_broadcastsi128_si256(_mm_loadu_si128(from)),
                _mm256_broadcastsi128_si256(_mm_loadu_si128(from + 1))};
    }
    static Halves load(const unsigned char* from) {
        const Value all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)),
                    four = _mm256_set1_epi8(15);
        return {_mm256_and_si256(all, four), _mm256_and_si256(_mm256_srli_epi64(all, 4), four)};
    }
    static Value zero() { return _mm256_setzero_si256(); }
    static Value add_product(Value sum, Halves x, Factor f) {
        return _mm256_xor_si256(
            sum, _mm256_xor_si256(_mm256_shuffle_epi8(f.low, x.low), _mm256_shuffle_epi8(f.high, x.high)));
    }
    static void store(unsigned char* to, Value v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v); }
    static void stream(unsigned char* to, Value v) { _mm256_stream_si256(reinterpret_cast<__m256i*>(to), v); }
};

#ifdef __AVX512BW__
/// Vectors of 64 bytes. 0x96 is the truth table of a ^ b ^ c (vpternlogq). Functions with masks of ones are
/// used instead of those without a mask, whose undefined operand GCC 12 warns about (its bug 105593).
struct Zmm {
    typedef __m512i Value;
    static constexpr std::size_t size = 64;
    static constexpr std::size_t side = 4;
    struct Factor {
        Value low, high;
    };
    struct Halves {
        Value low, high;
    };

    static Factor factor(const Code& c, std::size_t k) {
        const auto* from = reinterpret_cast<const __m128i*>(c.nibbles[k]);
        return {_mm512_maskz_broadcast_i32x4(0xffff, _mm_loadu_si128(from)),
                _mm512_maskz_broadcast_i32x4(0xffff, _mm_loadu_si128(from + 1))};
    }
    static Halves load(const unsigned char* from) {
        const Value all = _mm512_loadu_si512(from), four = _mm512_set1_epi8(15);
        return {_mm512_and_si512(all, four), _mm512_and_si512(_mm512_maskz_srli_epi64(0xff, all, 4), four)};
    }
    static Value zero() { return _mm512_setzero_si512(); }
    static Value add_product(Value sum, Halves x, Factor f) {
        return _mm512_ternarylogic_epi64(sum, _mm512_shuffle_epi8(f.low, x.low),
                                         _mm512_shuffle_epi8(f.high, x.high), 0x96);
    }
    static void store(unsigned char* to, Value v) { _mm512_storeu_si512(to, v); }
    static void stream(unsigned char* to, Value v) { _mm512_stream_si512(reinterpret_cast<__m512i*>(to), v); }
};
#endif

/// The widest vectors of the instruction set that this file is compiled for.
#if defined(__AVX512F__)
typedef Zmm Register;
#else
typedef Ymm Register;
#endif

#ifdef __GFNI__
/// Vectors of 64 bytes, multiplied by a matrix of 8 by 8 bits in one instruction.
struct Gfni : Zmm {
    typedef Value Factor;
    typedef Value Halves;

    static Factor factor(const Code& c, std::size_t k) {
        return _mm512_set1_epi64(static_cast<long long>(c.matrix[k]));
    }
    static Halves load(const unsigned char* from) { return _mm512_loadu_si512(from); }
    static Value add_product(Value sum, Halves x, Factor f) {
        return _mm512_xor_si512(sum, _mm512_gf2p8affine_epi64_epi8(x, f, 0));
    }
};
#endif

/// Compute `count` targets, beginning with `first`, while reading the sources only once. Only whole vectors
/// are processed.
template <class V, std::size_t count, std::size_t side, bool streaming>
inline std::size_t vectors_of(const Code& c, std::size_t first, std::size_t begin, std::size_t end) {
    constexpr std::size_t step = side * V::size;
    std::size_t i = begin;
    for (; i + step <= end; i += step) {
        typename V::Value sum[count][side];
#pragma GCC unroll 16
        for (std::size_t t = 0; t < count; ++t)
            for (std::size_t k = 0; k < side; ++k) sum[t][k] = V::zero();
#pragma GCC unroll 16
        for (std::size_t s = 0; s < sources; ++s) {
            typename V::Halves x[side];
#pragma GCC unroll 16
            for (std::size_t k = 0; k < side; ++k) x[k] = V::load(c.source[s] + i + k * V::size);
#pragma GCC unroll 16
            for (std::size_t t = 0; t < count; ++t) {
                const typename V::Factor f = V::factor(c, (first + t) * sources + s);
#pragma GCC unroll 16
                for (std::size_t k = 0; k < side; ++k) {
                    sum[t][k] = V::add_product(sum[t][k], x[k], f);
                    // Without this, GCC keeps all products in memory and adds them at the end.
                    asm("" : "+v"(sum[t][k]));
                }
            }
        }
#pragma GCC unroll 16
        for (std::size_t t = 0; t < count; ++t) {
#pragma GCC unroll 16
            for (std::size_t k = 0; k < side; ++k) {
                unsigned char* to = c.target[first + t] + i + k * V::size;
                if (streaming)
                    V::stream(to, sum[t][k]);
                else
                    V::store(to, sum[t][k]);
            }
        }
    }
    return i;
}

/// Compute one target after another, so that sources are read three times.
template <class V>
void one_by_one(const Code& c) {
    for (std::size_t t = 0; t < targets; ++t) {
        const std::size_t done = vectors_of<V, 1, V::side, false>(c, t, 0, c.n);
        bytes_of(c, t, t + 1, done, c.n);
    }
}

template <class V>
inline void at_once(const Code& c, std::size_t begin, std::size_t end) {
    std::size_t done = vectors_of<V, targets, V::side, false>(c, 0, begin, end);
    done = vectors_of<V, targets, 1, false>(c, 0, done, end);
    bytes_of(c, 0, targets, done, end);
}

/// Bypass the caches with stores if they are too small for the output. Only whole aligned vectors can be
/// stored in this way. Such stores are not ordered with others, so they are followed by a fence.
template <class V>
inline void past_caches(const Code& c, std::size_t begin, std::size_t end) {
    const auto at = [&](std::size_t t) { return reinterpret_cast<std::size_t>(c.target[t]) % V::size; };
    if (!c.streaming || at(0) != at(1) || at(0) != at(2)) {
        at_once<V>(c, begin, end);
        return;
    }
    std::size_t aligned = begin + (0 - (at(0) + begin)) % V::size;
    if (aligned > end) aligned = end;
    bytes_of(c, 0, targets, begin, aligned);
    const std::size_t done = vectors_of<V, targets, V::side, true>(c, 0, aligned, end);
    at_once<V>(c, done, end);
    _mm_sfence();
}

template <class V>
void all_at_once(const Code& c) {
    at_once<V>(c, 0, c.n);
}

template <class V>
void all_past_caches(const Code& c) {
    past_caches<V>(c, 0, c.n);
}

#ifdef _OPENMP
template <class V>
void side_by_side(const Code& c) {
    constexpr std::size_t piece = 4096;
    const std::size_t pieces = (c.n + piece - 1) / piece;
#pragma omp parallel
    {
        const auto threads = static_cast<std::size_t>(omp_get_num_threads());
        const auto own = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t begin = pieces * own / threads * piece, end = pieces * (own + 1) / threads * piece;
        past_caches<V>(c, begin, end < c.n ? end : c.n);
    }
}
#endif

} // namespace
