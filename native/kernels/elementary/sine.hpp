#pragma once

/// Sine and cosine of whole vectors, within 2^-52 of the exact value. Local to the including file, since
/// variants are compiled for different processors.

#include <immintrin.h>
#include <math.h>

namespace {

/// Largest argument: above it, n has too many digits for an exact product with the first part of pi.
constexpr double sine_reaches = 0x1p20;

inline bool any_beyond(__m256d x, double limit) {
    const __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
    return _mm256_movemask_pd(_mm256_cmp_pd(size, _mm256_set1_pd(limit), _CMP_NLE_UQ)) != 0;
}

#ifdef __AVX512F__
inline bool any_beyond(__m512d x, double limit) {
    return _mm512_cmp_pd_mask(_mm512_abs_pd(x), _mm512_set1_pd(limit), _CMP_NLE_UQ) != 0;
}
#endif

/// Compute sin(x + half pi / 2), half = 0 or 1: x = (n - half / 2) pi + r with the nearest whole number n, so
/// that the result is sin r, or -sin r for odd n. Pi is split into parts: the first ends in enough zeros that
/// its product with n is exact (twice those of Sun's fdlibm, e_rem_pio2.c, 1993). Polynomial by Sollya's
/// fpminimax: error 3e-19 of sin r for |r| <= pi / 2.
template <int half, class D>
inline D sine(D x) {
    typedef long long Bits __attribute__((vector_size(sizeof(D))));
    if (__builtin_expect(any_beyond(x, sine_reaches), 0)) {
        for (unsigned i = 0; i < sizeof(D) / sizeof(double); ++i) x[i] = half ? cos(x[i]) : sin(x[i]);
        return x;
    }
    constexpr double to_whole_number = 0x1.8p52;
    constexpr double per_pi = 0x1.45f306dc9c883p-2;
    const D shifted = half ? x * per_pi + 0.5 + to_whole_number : x * per_pi + to_whole_number;
    const D whole = shifted - to_whole_number;
    const D n = half ? whole - 0.5 : whole;
    const D r = (x - n * 0x1.921fb54400000p+1) - n * 0x1.0b4611a626331p-33;
    const D z = r * r, z2 = z * z, z4 = z2 * z2;
    const D low = (-0.1666666666666666574148081281236954964697360992431640625 +
                   z * 8.33333333333320831759483127143539604730904102325439453125e-3) +
                  z2 * (-1.98412698412133597404560791943595177144743502140045166015625e-4 +
                        z * 2.75573192117415060979623842030150626669637858867645263671875e-6);
    const D high = (-2.505210692122704693293951431435490073695859791769180446863174e-8 +
                    z * 1.605894187842919163562559183589255502877524151017496478743851e-10) +
                   z2 * (-7.64304268798616172445874644905254466321561923614069655741332e-13 +
                         z * 2.721668650660885730490188899722164788876229129382933180636428e-15);
    const D found = r + (r * z) * (low + z4 * high);
    Bits bits, sign;
    __builtin_memcpy(&bits, &found, sizeof bits);
    __builtin_memcpy(&sign, &shifted, sizeof sign);
    bits ^= sign << 63;
    D result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}

} // namespace
