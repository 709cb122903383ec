#pragma once

/// Shared by variants for different processors, so everything here is local to the including file.

#include "kernels/elementary/area.hpp"
#include "kernels/elementary/exponential.hpp"
#include "kernels/elementary/logarithm.hpp"
#include "kernels/elementary/sine.hpp"
#include "kernels/masked-exp/work.hpp"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Function;
using assay::kernels::Masked;

struct Avx2 {
    using Doubles = __m256d;
    using Mask = __m256d;
    static constexpr std::size_t lanes = 4;
    static Doubles load(const double* from) { return _mm256_loadu_pd(from); }
    static void store(double* to, Doubles a) { _mm256_storeu_pd(to, a); }
    static Mask positive(Doubles a) { return _mm256_cmp_pd(a, _mm256_setzero_pd(), _CMP_GT_OQ); }
    static bool any(Mask mask) { return _mm256_movemask_pd(mask) != 0; }
    static Doubles patched(Doubles a, Mask mask, double patch) {
        return _mm256_blendv_pd(_mm256_set1_pd(patch), a, mask);
    }
    static Doubles kept(Doubles a, Mask mask) { return _mm256_and_pd(a, mask); }
};

#ifdef __AVX512F__
struct Avx512 {
    using Doubles = __m512d;
    using Mask = __mmask8;
    static constexpr std::size_t lanes = 8;
    static Doubles load(const double* from) { return _mm512_loadu_pd(from); }
    static void store(double* to, Doubles a) { _mm512_storeu_pd(to, a); }
    static Mask positive(Doubles a) { return _mm512_cmp_pd_mask(a, _mm512_setzero_pd(), _CMP_GT_OQ); }
    static bool any(Mask mask) { return mask != 0; }
    static Doubles patched(Doubles a, Mask mask, double patch) {
        return _mm512_mask_mov_pd(_mm512_set1_pd(patch), mask, a);
    }
    static Doubles kept(Doubles a, Mask mask) { return _mm512_maskz_mov_pd(mask, a); }
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

/// Evaluate a masked vector: replace masked elements before the call, and discard their results after it.
///
/// \tparam skip true to skip the call if no element is active.
template <class V, bool skip, class Evaluate>
inline typename V::Doubles masked(typename V::Doubles x, double patch, Evaluate& evaluate) {
    const auto mask = V::positive(x);
    if (skip && !V::any(mask)) return typename V::Doubles{};
    return V::kept(evaluate(V::patched(x, mask, patch)), mask);
}

/// Evaluate the elements from `first` to before `last`; remaining elements at the end have a vector of their
/// own.
template <class V, bool skip, class Evaluate>
inline void evaluate_range(const Masked& m, std::size_t first, std::size_t last, Evaluate evaluate) {
    std::size_t i = first;
    for (; i + V::lanes <= last; i += V::lanes)
        V::store(m.y + i, masked<V, skip>(V::load(m.x + i), m.patch, evaluate));
    double rest[V::lanes] = {};
    for (std::size_t j = 0; i + j < last; ++j) rest[j] = m.x[i + j];
    V::store(rest, masked<V, skip>(V::load(rest), m.patch, evaluate));
    for (std::size_t j = 0; i + j < last; ++j) m.y[i + j] = rest[j];
}

/// Call `range(evaluate)` with one of the kernel's own functions.
template <class V, class Range>
inline void with_own(const Masked& m, Range range) {
    using D = typename V::Doubles;
    switch (m.function) {
    case Function::exp:
        return range([](D x) { return exponential(x); });
    case Function::log:
        return range([](D x) { return logarithm(x); });
    case Function::sin:
        return range([](D x) { return sine<0>(x); });
    case Function::cos:
        return range([](D x) { return sine<1>(x); });
    case Function::acosh:
        return range([](D x) { return area_cosine(x); });
    }
}

template <class V, bool skip>
void own(const Masked& m) {
    with_own<V>(m, [&](auto evaluate) { evaluate_range<V, skip>(m, 0, m.n, evaluate); });
}

#ifdef __AVX512F__
/// Gather the elements above zero, evaluate only these, and scatter the results, in pieces that stay in the
/// first-level cache.
template <class Evaluate>
inline void evaluate_gathered(const Masked& m, std::size_t first, std::size_t last, Evaluate evaluate) {
    constexpr std::size_t lanes = Avx512::lanes, piece = 64 * lanes;
    alignas(64) double gathered[piece + lanes];
    for (; first < last; first += piece) {
        const std::size_t count = last - first < piece ? last - first : piece;
        const auto full = [count](std::size_t i) {
            return static_cast<__mmask8>(count - i < lanes ? (1U << (count - i)) - 1U : 0xffU);
        };
        __mmask8 masks[piece / lanes];
        std::size_t active = 0;
        for (std::size_t i = 0; i < count; i += lanes) {
            const __m512d x = _mm512_maskz_loadu_pd(full(i), m.x + first + i);
            const __mmask8 mask = Avx512::positive(x);
            masks[i / lanes] = mask;
            // Compress to a register, since compressing to memory is slow on Zen 4.
            _mm512_storeu_pd(gathered + active, _mm512_maskz_compress_pd(mask, x));
            active += static_cast<unsigned>(__builtin_popcount(mask));
        }
        _mm512_storeu_pd(gathered + active, _mm512_set1_pd(m.patch));
        for (std::size_t i = 0; i < active; i += lanes)
            _mm512_storeu_pd(gathered + i, evaluate(_mm512_loadu_pd(gathered + i)));
        active = 0;
        for (std::size_t i = 0; i < count; i += lanes) {
            const __mmask8 mask = masks[i / lanes];
            const __m512d y = _mm512_maskz_expand_pd(mask, _mm512_loadu_pd(gathered + active));
            _mm512_mask_storeu_pd(m.y + first + i, full(i), y);
            active += static_cast<unsigned>(__builtin_popcount(mask));
        }
    }
}

inline void gathered(const Masked& m) {
    with_own<Avx512>(m, [&](auto evaluate) { evaluate_gathered(m, 0, m.n, evaluate); });
}
#endif

#ifdef _OPENMP
/// Divide the elements among all threads, in pieces of whole cache lines.
template <class V, bool skip, class Evaluate>
void evaluate_by_threads(const Masked& m, Evaluate evaluate) {
    constexpr std::size_t piece = 4096;
    const auto pieces = static_cast<std::int64_t>((m.n + piece - 1) / piece);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < pieces; ++i) {
        const std::size_t first = static_cast<std::size_t>(i) * piece;
        evaluate_range<V, skip>(m, first, first + piece < m.n ? first + piece : m.n, evaluate);
    }
}

template <class V, bool skip>
void side_by_side(const Masked& m) {
    with_own<V>(m, [&](auto evaluate) { evaluate_by_threads<V, skip>(m, evaluate); });
}
#endif

} // namespace
