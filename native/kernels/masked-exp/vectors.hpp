#pragma once

/// Shared by variants for different processors, so all of it is local to the file that includes it.

#include "kernels/elementary/exponential.hpp"
#include "kernels/elementary/logarithm.hpp"
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

/// What a vector function of the processor's calling convention is.
template <class V>
using Call = typename V::Doubles(typename V::Doubles);

/// A masked vector: what is left out is replaced before, and discarded after.
///
/// \tparam skip whether the function is not called for nothing.
template <class V, bool skip, class Evaluate>
inline typename V::Doubles masked(typename V::Doubles x, double patch, Evaluate& evaluate) {
    const auto mask = V::positive(x);
    if (skip && !V::any(mask)) return typename V::Doubles{};
    return V::kept(evaluate(V::patched(x, mask, patch)), mask);
}

/// Elements from `first` to before `last`; the last of them fill a vector of their own.
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

/// The kernel's own functions, for `range(evaluate)`.
template <class V, class Range>
inline void with_own(const Masked& m, Range range) {
    if (m.function == Function::exp)
        range([](typename V::Doubles x) { return exponential(x); });
    else
        range([](typename V::Doubles x) { return logarithm(x); });
}

inline const char* not_own(const Masked& m) {
    const bool own = m.function == Function::exp || m.function == Function::log;
    return own ? nullptr : "of its own it has exp and log alone";
}

template <class V, bool skip>
void own(const Masked& m) {
    with_own<V>(m, [&](auto evaluate) { evaluate_range<V, skip>(m, 0, m.n, evaluate); });
}

#ifdef _OPENMP
/// In pieces of whole lines of a cache, a piece for each thread.
template <class V, bool skip>
void side_by_side(const Masked& m) {
    constexpr std::size_t piece = 4096;
    const auto pieces = static_cast<std::int64_t>((m.n + piece - 1) / piece);
    with_own<V>(m, [&](auto evaluate) {
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < pieces; ++i) {
            const std::size_t first = static_cast<std::size_t>(i) * piece;
            evaluate_range<V, skip>(m, first, first + piece < m.n ? first + piece : m.n, evaluate);
        }
    });
}
#endif

} // namespace
