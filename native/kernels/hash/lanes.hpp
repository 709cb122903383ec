#pragma once

/// Hashes of many messages at once, each in its own lane of the same vectors. Everything here is local to the
/// including file: of a function with one definition per program, the linker might keep the version for a
/// newer processor.
///
/// Each round depends on the result of the previous one, so sums are written such that this result is added
/// last. GCC would reorder them (-ftree-reassoc), which made SHA-256 and SHA-512 a quarter slower on Zen 5.
/// So files that include this one are compiled with -fno-tree-reassoc.

#include "kernels/hash/constants.hpp"
#include "kernels/hash/work.hpp"

#include <cstddef>
#include <cstdint>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace {

using assay::kernels::digest_place;
using assay::kernels::Function;
using assay::kernels::Hashing;

template <class V>
inline V turned(V x, int bits, int width) {
    return (x << bits) | (x >> (width - bits));
}

template <class V>
inline V choice(V x, V y, V z) {
#ifdef __AVX512F__
    if constexpr (sizeof(V) == 64)
        return reinterpret_cast<V>(_mm512_ternarylogic_epi64(
            reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y), reinterpret_cast<__m512i>(z), 0xca));
#endif
    return z ^ (x & (y ^ z));
}

template <class V>
inline V majority(V x, V y, V z) {
#ifdef __AVX512F__
    if constexpr (sizeof(V) == 64)
        return reinterpret_cast<V>(_mm512_ternarylogic_epi64(
            reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y), reinterpret_cast<__m512i>(z), 0xe8));
#endif
    return (x & y) | (z & (x | y));
}

template <class V>
inline V odd(V x, V y, V z) {
#ifdef __AVX512F__
    if constexpr (sizeof(V) == 64)
        return reinterpret_cast<V>(_mm512_ternarylogic_epi64(
            reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y), reinterpret_cast<__m512i>(z), 0x96));
#endif
    return x ^ y ^ z;
}

struct Md5 {
    typedef std::uint32_t Word;
    static constexpr std::size_t words = 4, block = 64;
    static constexpr bool big_endian = false;
    static constexpr const Word* start = md5_start;

    template <class V>
    static void add(V* h, const V* w) {
        constexpr int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
        V a = h[0], b = h[1], c = h[2], d = h[3];
#pragma GCC unroll 64
        for (int i = 0; i < 64; ++i) {
            const int round = i / 16;
            const V f = round == 0   ? choice(b, c, d)
                        : round == 1 ? choice(d, b, c)
                        : round == 2 ? odd(b, c, d)
                                     : c ^ (b | ~d);
            const int from = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
            const V sum = (a + (w[from % 16] + md5_table[i])) + f;
            a = d;
            d = c;
            c = b;
            b = b + turned(sum, turns[round][i % 4], 32);
        }
        h[0] += a;
        h[1] += b;
        h[2] += c;
        h[3] += d;
    }
};

struct Sha1 {
    typedef std::uint32_t Word;
    static constexpr std::size_t words = 5, block = 64;
    static constexpr bool big_endian = true;
    static constexpr const Word* start = sha1_start;

    template <class V>
    static void add(V* h, V* w) {
        V a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
#pragma GCC unroll 80
        for (int i = 0; i < 80; ++i) {
            const V next =
                i < 16
                    ? w[i]
                    : turned(odd<V>(w[(i + 13) % 16], w[(i + 8) % 16], w[(i + 2) % 16] ^ w[i % 16]), 1, 32);
            w[i % 16] = next;
            const V f = i < 20 ? choice(b, c, d) : i < 40 || i >= 60 ? odd(b, c, d) : majority(b, c, d);
            const Word k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
            const V sum = ((e + (next + k)) + f) + turned(a, 5, 32);
            e = d;
            d = c;
            c = turned(b, 30, 32);
            b = a;
            a = sum;
        }
        h[0] += a;
        h[1] += b;
        h[2] += c;
        h[3] += d;
        h[4] += e;
    }
};

/// SHA-256 and SHA-512, which differ only in their constants.
template <class W, int rounds, int... n>
struct Sha2 {
    typedef W Word;
    static constexpr int width = 8 * sizeof(Word);
    static constexpr std::size_t words = 8, block = 16 * sizeof(Word);
    static constexpr bool big_endian = true;

    template <class V>
    static void add_with(V* h, V* w, const Word* table) {
        constexpr int by[] = {n...};
        V s[8];
        for (int i = 0; i < 8; ++i) s[i] = h[i];
        // Sixteen rounds at a time, since more unrolled rounds would not fit the cache of decoded
        // instructions.
        for (int first = 0; first < rounds; first += 16) {
#pragma GCC unroll 16
            for (int i = 0; i < 16; ++i) {
                if (first > 0) {
                    const V x = w[(i + 1) % 16], y = w[(i + 14) % 16];
                    w[i] +=
                        odd<V>(turned(x, width - by[6], width), turned(x, width - by[7], width), x >> by[8]) +
                        w[(i + 9) % 16] +
                        odd<V>(turned(y, width - by[9], width), turned(y, width - by[10], width),
                               y >> by[11]);
                }
                const V a = s[0], e = s[4];
                const V one = ((s[7] + (w[i] + table[first + i])) + choice(e, s[5], s[6])) +
                              odd<V>(turned(e, width - by[3], width), turned(e, width - by[4], width),
                                     turned(e, width - by[5], width));
                const V two = odd<V>(turned(a, width - by[0], width), turned(a, width - by[1], width),
                                     turned(a, width - by[2], width)) +
                              majority(a, s[1], s[2]);
                s[7] = s[6];
                s[6] = s[5];
                s[5] = s[4];
                s[4] = s[3] + one;
                s[3] = s[2];
                s[2] = s[1];
                s[1] = s[0];
                s[0] = one + two;
            }
        }
        for (int i = 0; i < 8; ++i) h[i] += s[i];
    }
};

struct Sha256 : Sha2<std::uint32_t, 64, 2, 13, 22, 6, 11, 25, 7, 18, 3, 17, 19, 10> {
    static constexpr const Word* start = sha256_start;
    template <class V>
    static void add(V* h, V* w) {
        add_with(h, w, sha256_table);
    }
};

struct Sha512 : Sha2<std::uint64_t, 80, 28, 34, 39, 14, 18, 41, 1, 8, 7, 19, 61, 6> {
    static constexpr const Word* start = sha512_start;
    template <class V>
    static void add(V* h, V* w) {
        add_with(h, w, sha512_table);
    }
};

inline std::uint32_t byte_swapped(std::uint32_t x) {
    return __builtin_bswap32(x);
}
inline std::uint64_t byte_swapped(std::uint64_t x) {
    return __builtin_bswap64(x);
}

template <std::size_t size>
struct BytesOf {
    typedef unsigned char Type __attribute__((vector_size(size)));
};

/// Load sixteen words of each lane's block: lane l of w[i] becomes word i at from[l].
template <class F, class V>
inline void load(V* w, const unsigned char* const* from, std::size_t offset) {
    typedef typename F::Word Word;
    constexpr std::size_t lanes = sizeof(V) / sizeof(Word);
    if constexpr (lanes == 1) {
        for (std::size_t i = 0; i < 16; ++i) {
            __builtin_memcpy(&w[i], from[0] + offset + i * sizeof(Word), sizeof(Word));
            if (F::big_endian) w[i] = byte_swapped(w[i]);
        }
    } else {
        // Transpose the rows: interleave each row of the first half with the corresponding row of the second
        // half, and repeat this log2(lanes) times.
        V low, high;
        for (std::size_t l = 0; l < lanes; ++l) {
            low[l] = static_cast<Word>(l % 2 * lanes + l / 2);
            high[l] = static_cast<Word>(l % 2 * lanes + l / 2 + lanes / 2);
        }
        typedef typename BytesOf<sizeof(V)>::Type Bytes;
        Bytes ends;
        for (std::size_t b = 0; b < sizeof(V); ++b)
            ends[b] = static_cast<unsigned char>(b / sizeof(Word) * sizeof(Word) +
                                                 (sizeof(Word) - 1 - b % sizeof(Word)));
        for (std::size_t part = 0; part < 16; part += lanes) {
            V rows[lanes];
#pragma GCC unroll 16
            for (std::size_t l = 0; l < lanes; ++l) {
                __builtin_memcpy(&rows[l], from[l] + offset + part * sizeof(Word), sizeof(V));
                if (F::big_endian)
                    rows[l] = reinterpret_cast<V>(__builtin_shuffle(reinterpret_cast<Bytes>(rows[l]), ends));
            }
#pragma GCC unroll 4
            for (std::size_t done = 1; done < lanes; done *= 2) {
                V next[lanes];
#pragma GCC unroll 16
                for (std::size_t l = 0; l < lanes / 2; ++l) {
                    next[2 * l] = __builtin_shuffle(rows[l], rows[l + lanes / 2], low);
                    next[2 * l + 1] = __builtin_shuffle(rows[l], rows[l + lanes / 2], high);
                }
#pragma GCC unroll 16
                for (std::size_t l = 0; l < lanes; ++l) rows[l] = next[l];
            }
#pragma GCC unroll 16
            for (std::size_t l = 0; l < lanes; ++l) w[part + l] = rows[l];
        }
    }
}

/// Hash messages with the given numbers, at most one in each lane; lanes without a message repeat the last
/// one.
template <class F, class V>
void hash_of(const Hashing& p, const std::size_t* which, std::size_t count) {
    if (count == 0) return;
    typedef typename F::Word Word;
    constexpr std::size_t lanes = sizeof(V) / sizeof(Word), block = F::block;
    const unsigned char* from[lanes];
    for (std::size_t l = 0; l < lanes; ++l) from[l] = p.data + which[l < count ? l : count - 1] * p.length;
    V h[F::words], w[16];
    for (std::size_t i = 0; i < F::words; ++i) h[i] = V{} + F::start[i];
    const std::size_t rest = p.length % block, whole = p.length - rest;
    for (std::size_t i = 0; i < whole; i += block) {
        load<F>(w, from, i);
        F::add(h, w);
    }
    // Padding: a one bit, zeros, and the number of bits in 8 bytes (16 bytes for words of 64 bits).
    unsigned char last[lanes][2 * block] = {};
    const std::size_t filled = rest + 1 + 2 * sizeof(Word) <= block ? block : 2 * block;
    for (std::size_t l = 0; l < lanes; ++l) {
        __builtin_memcpy(last[l], from[l] + whole, rest);
        last[l][rest] = 0x80;
        const std::uint64_t bits = 8 * static_cast<std::uint64_t>(p.length);
        for (std::size_t i = 0; i < 8; ++i) {
            const std::size_t at = F::big_endian ? filled - 1 - i : filled - 8 + i;
            last[l][at] = static_cast<unsigned char>(bits >> (8 * i));
        }
        from[l] = last[l];
    }
    for (std::size_t i = 0; i < filled; i += block) {
        load<F>(w, from, i);
        F::add(h, w);
    }
    for (std::size_t l = 0; l < count; ++l) {
        for (std::size_t i = 0; i < F::words; ++i) {
            Word word;
            __builtin_memcpy(&word, reinterpret_cast<const unsigned char*>(&h[i]) + l * sizeof(Word),
                             sizeof word);
            if (F::big_endian) word = byte_swapped(word);
            __builtin_memcpy(p.digests + which[l] * digest_place + i * sizeof(Word), &word, sizeof word);
        }
    }
}

/// \tparam S, L vectors of words of 32 and of 64 bits.
template <class S, class L>
inline std::size_t lanes_of(const Hashing& p) {
    return p.function == Function::sha512 ? sizeof(L) / 8 : sizeof(S) / 4;
}

/// Hash messages with the given numbers, at most as many as there are lanes.
template <class S, class L>
inline void hash_these(const Hashing& p, const std::size_t* which, std::size_t count) {
    switch (p.function) {
    case Function::md5:
        return hash_of<Md5, S>(p, which, count);
    case Function::sha1:
        return hash_of<Sha1, S>(p, which, count);
    case Function::sha256:
        return hash_of<Sha256, S>(p, which, count);
    case Function::sha512:
        return hash_of<Sha512, L>(p, which, count);
    }
}

template <class S, class L>
inline void some(const Hashing& p, std::size_t number) {
    const std::size_t lanes = lanes_of<S, L>(p), first = number * lanes;
    std::size_t which[sizeof(S) / 4], count = 0;
    for (; count < lanes && first + count < p.messages; ++count) which[count] = first + count;
    hash_these<S, L>(p, which, count);
}

template <class S, class L>
inline std::size_t numbers(const Hashing& p) {
    const std::size_t lanes = lanes_of<S, L>(p);
    return (p.messages + lanes - 1) / lanes;
}

template <class S, class L>
void all(const Hashing& p) {
    for (std::size_t i = 0; i < numbers<S, L>(p); ++i) some<S, L>(p, i);
}

#ifdef _OPENMP
template <class S, class L>
void side_by_side(const Hashing& p) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < numbers<S, L>(p); ++i) some<S, L>(p, i);
}
#endif

typedef std::uint32_t U32x8 __attribute__((vector_size(32)));
typedef std::uint64_t U64x4 __attribute__((vector_size(32)));
#ifdef __AVX512F__
typedef std::uint32_t U32x16 __attribute__((vector_size(64)));
typedef std::uint64_t U64x8 __attribute__((vector_size(64)));
typedef U32x16 U32s;
typedef U64x8 U64s;
#else
typedef U32x8 U32s;
typedef U64x4 U64s;
#endif

} // namespace
