#pragma once

/// Shared by variants for different processors, so everything here is local to the including file.

#include "kernels/elementary/logarithm.hpp"
#include "kernels/log-product/work.hpp"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Logarithms;

struct Avx2 {
    using Doubles = __m256d;
    static constexpr std::size_t lanes = 4;
    static Doubles load(const double* from) { return _mm256_loadu_pd(from); }
    static void store(double* to, Doubles a) { _mm256_storeu_pd(to, a); }
    static void stream(double* to, Doubles a) { _mm256_stream_pd(to, a); }
    static Doubles product(Doubles a, Doubles b) { return _mm256_mul_pd(a, b); }
};

#ifdef __AVX512F__
struct Avx512 {
    using Doubles = __m512d;
    static constexpr std::size_t lanes = 8;
    static Doubles load(const double* from) { return _mm512_loadu_pd(from); }
    static void store(double* to, Doubles a) { _mm512_storeu_pd(to, a); }
    static void stream(double* to, Doubles a) { _mm512_stream_pd(to, a); }
    static Doubles product(Doubles a, Doubles b) { return _mm512_mul_pd(a, b); }
};
#endif

/// The widest vectors of the instruction set that this file is compiled for.
#if defined(__AVX512F__)
typedef Avx512 Simd;
#else
typedef Avx2 Simd;
#endif

/// Type of a vector function in the processor's calling convention.
template <class V>
using Call = typename V::Doubles(typename V::Doubles);

/// Multiply the elements from `first` to before `last`, which are fewer than a vector has.
template <class V, class Log>
inline void few(const Logarithms& l, std::size_t first, std::size_t last, Log logarithm_of) {
    double a[V::lanes], b[V::lanes];
    for (std::size_t j = 0; j < V::lanes; ++j) {
        a[j] = first + j < last ? l.a[first + j] : 1.0;
        b[j] = first + j < last ? l.b[first + j] : 1.0;
    }
    V::store(a, V::product(logarithm_of(V::load(a)), logarithm_of(V::load(b))));
    for (std::size_t j = 0; first + j < last; ++j) l.c[first + j] = a[j];
}

/// Multiply the elements from `first` to before `last`.
///
/// \tparam streamed true to bypass the caches with stores, from the first result that is aligned to a vector.
template <class V, bool streamed, class Log>
inline void multiply(const Logarithms& l, std::size_t first, std::size_t last, Log logarithm_of) {
    std::size_t i = first;
    if (streamed) {
        const auto beyond =
            reinterpret_cast<std::uintptr_t>(l.c + i) % sizeof(typename V::Doubles) / sizeof(double);
        i += beyond ? V::lanes - beyond : 0;
        i = i < last ? i : last;
        few<V>(l, first, i, logarithm_of);
    }
    for (; i + V::lanes <= last; i += V::lanes) {
        const auto c = V::product(logarithm_of(V::load(l.a + i)), logarithm_of(V::load(l.b + i)));
        if (streamed)
            V::stream(l.c + i, c);
        else
            V::store(l.c + i, c);
    }
    few<V>(l, i, last, logarithm_of);
    if (streamed) _mm_sfence();
}

template <class V, bool streamed>
void own(const Logarithms& l) {
    multiply<V, streamed>(l, 0, l.n, [](typename V::Doubles x) { return logarithm(x); });
}

#ifdef _OPENMP
/// Divide the elements among all threads, in pieces of whole cache lines.
template <class V, bool streamed, class Log>
void multiply_by_threads(const Logarithms& l, Log logarithm_of) {
    constexpr std::size_t piece = 4096;
    const auto pieces = static_cast<std::int64_t>((l.n + piece - 1) / piece);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < pieces; ++i) {
        const std::size_t first = static_cast<std::size_t>(i) * piece;
        multiply<V, streamed>(l, first, first + piece < l.n ? first + piece : l.n, logarithm_of);
    }
}

template <class V, bool streamed>
void side_by_side(const Logarithms& l) {
    multiply_by_threads<V, streamed>(l, [](typename V::Doubles x) { return logarithm(x); });
}
#endif

} // namespace
