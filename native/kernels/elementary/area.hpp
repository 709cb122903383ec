#pragma once

/// The inverse of the hyperbolic cosine, of whole vectors, within four units in the last place. Local to the
/// including file, since variants are compiled for different processors.

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

/// Compute ln(1 + u) with u = t + sqrt(t (x + 1)) and t = x - 1: near one, t is exact, and no digits cancel.
/// The rounding error of 1 + u is corrected to the first order. Above 2^28 the result equals ln 2x in double
/// precision.
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
