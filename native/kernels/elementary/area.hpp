#pragma once

/// The inverse of the hyperbolic cosine, of whole vectors, within four units in the last place. Local to each
/// file that includes it: variants are compiled for different processors.

#include "kernels/elementary/logarithm.hpp"

namespace {

inline __m256d root(__m256d x) {
    return _mm256_sqrt_pd(x);
}

#ifdef __AVX512F__
inline __m512d root(__m512d x) {
    return _mm512_sqrt_pd(x);
}
#endif

/// Computes ln(1 + u), u = t + sqrt(t (x + 1)), t = x - 1: nothing cancels near one, where t is exact. The
/// rounding error of 1 + u is corrected to the first order. Beyond 2^28 the result is ln 2x to the last
/// digit.
template <class D>
inline D area_cosine(D x) {
    const D t = x - 1.0;
    const D u = t + root(t * (x + 1.0));
    const D sum = 1.0 + u;
    const auto large = x > 0x1p28;
    const D lost = (u - (sum - 1.0)) / sum;
    const D argument = large ? x : sum;
    const D rest = large ? D{} + 0x1.62e42fefa39efp-1 : lost;
    return logarithm(argument) + rest;
}

} // namespace
