#pragma once

#include "kernels/horner/vectors.hpp"

#include <immintrin.h>

#include <cstdint>

namespace {

using assay::kernels::Cost;

/// Stores that bypass the caches (MOVNTPD): a cache line that is written as a whole is not read first.
struct Past {
#if defined(ASSAY_FOR_AVX512)
    static void store(double* to, const Double8& value) { _mm512_stream_pd(to, value); }
#else
    static void store(double* to, const Double4& value) { _mm256_stream_pd(to, value); }
#endif
};

/// Evaluate as `side_by_side` does. Each thread's piece begins at a cache line of the output, since such
/// stores have to be aligned.
template <class V, std::size_t chains>
void past_caches(const Polynomial& p) {
    constexpr std::size_t line = 64, piece = 48 * chains * sizeof(V) / sizeof(double);
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(p.y) % line / sizeof(double);
    const std::size_t lead = offset == 0 ? 0 : line / sizeof(double) - offset;
    const std::size_t head = lead < p.n ? lead : p.n;
    evaluate<V, chains>(p, 0, head);
    const auto pieces = static_cast<long>((p.n - head + piece - 1) / piece);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < pieces; ++i) {
        const std::size_t first = head + static_cast<std::size_t>(i) * piece;
        evaluate<V, chains, Past>(p, first, first + piece < p.n ? first + piece : p.n);
        _mm_sfence();
    }
}

inline Cost past_cost(const Polynomial& p) {
    const auto n = static_cast<double>(p.n);
    return {2.0 * static_cast<double>(p.degree) * n, 0.0, 16.0 * n, 16.0 * n};
}

inline const char* past_missing(const Polynomial& p) {
    return p.y ? nullptr : "needs write=1";
}

} // namespace
