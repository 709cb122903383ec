#pragma once

/// Local to each file that includes it: see horner/vectors.hpp.

#include "kernels/bandwidth/move.hpp"

#include <immintrin.h>

#include <cstdint>

namespace {

/// Do the work of `move` with stores that bypass the caches (MOVNTPD): a cache line that is written as a
/// whole is not read first.
inline double move_past(const Streams& work, std::size_t first, std::size_t last) {
    if (work.operation == reading) return move(work, first, last);
    const bool two = work.operation == copying;
    constexpr std::size_t line = 32;
    std::size_t i = first;
    while (i < last && reinterpret_cast<std::uintptr_t>(work.to + i) % line != 0) ++i;
    move(work, first, i);
    const __m256d factor = _mm256_set1_pd(work.factor);
    for (; i + 4 <= last; i += 4) {
        __m256d value = _mm256_loadu_pd(work.from + i);
        if (!two) value = _mm256_fmadd_pd(factor, _mm256_loadu_pd(work.other + i), value);
        _mm256_stream_pd(work.to + i, value);
    }
    move(work, i, last);
    _mm_sfence();
    return 0.0;
}

inline Cost past_cost(const Streams& work) {
    const double n = static_cast<double>(work.n);
    const double bytes = 8.0 * (1.0 + static_cast<double>(work.operation)) * n;
    return {work.operation == copying ? 0.0 : 2.0 * n, 0.0, bytes, bytes};
}

inline const char* past_missing(const Streams& work) {
    return work.operation == reading ? "nothing is written" : nullptr;
}

} // namespace
