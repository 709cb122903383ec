#pragma once

/// e^x of whole vectors within 1.1 units in the last place, for any x above -708. Local to the including
/// file, since variants are compiled for different processors.
///
/// x = (n + j/16) ln 2 + r, so that e^x = 2^n 2^(j/16) e^r (P. T. P. Tang, "Table-driven implementation of
/// the exponential function", ACM TOMS 15, 1989). With AVX2 there is no table, since its permutations select
/// from too few entries. The polynomials approximate e^r - 1 relative to r, and are from Sollya's fpminimax.
/// ln 2 is split into two parts: the first ends in enough zeros that its product with n is exact.

// GCC 12 warns about undefined vectors in its own header (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

namespace {

/// Added to a number, it leaves the nearest whole number in the lowest bits.
constexpr double to_whole = 0x1.8p52;
/// Larger arguments are replaced by this one, for which the result is infinite and n can still be computed.
constexpr double exp_overflows = 710.0;

/// e^r is 1 + r + r^2 times a polynomial: its error is 8e-18 for |r| <= ln 2 / 2.
inline __m256d exponential(__m256d x) {
    const auto all = [](double a) { return _mm256_set1_pd(a); };
    x = _mm256_min_pd(x, all(exp_overflows));
    const __m256d shifted = _mm256_fmadd_pd(x, all(0x1.71547652b82fep+0), all(to_whole));
    const __m256d n = _mm256_sub_pd(shifted, all(to_whole));
    __m256d r = _mm256_fnmadd_pd(n, all(0x1.62e42fefa0000p-1), x);
    r = _mm256_fnmadd_pd(n, all(0x1.cf79abc9e3b3ap-40), r);
    const __m256d r2 = _mm256_mul_pd(r, r), r4 = _mm256_mul_pd(r2, r2);
    const auto pair = [&](double a, double b) { return _mm256_fmadd_pd(all(b), r, all(a)); };
    const __m256d low = _mm256_fmadd_pd(pair(4.16666666665737872587982337790890596807003021240234375e-2,
                                             8.33333333338623534480849031069737975485622882843017578125e-3),
                                        r2,
                                        pair(0.50000000000000055511151231257827021181583404541015625,
                                             0.1666666666666659357698421217719442211091518402099609375));
    const __m256d middle =
        _mm256_fmadd_pd(pair(2.480150454226162667448023213534469277874450199306011199951172e-5,
                             2.755739960654980765430901307199189159865629335399717092514038e-6),
                        r2,
                        pair(1.3888888932306019119433670994112617336213588714599609375e-3,
                             1.984126972714003918091957290315008322068024426698684692382812e-4));
    const __m256d high = pair(2.762628713296125999875942069738954387503326870501041412353516e-7,
                              2.505645784453611871610848255489956137864737684139981865882874e-8);
    const __m256d p = _mm256_fmadd_pd(_mm256_fmadd_pd(high, r4, middle), r4, low);
    const __m256d value = _mm256_add_pd(all(1.0), _mm256_fmadd_pd(p, r2, r));
    // 2^(n-1), since a double's exponent cannot be 1024.
    const __m256i bits = _mm256_add_epi64(_mm256_castpd_si256(shifted), _mm256_set1_epi64x(1022));
    const __m256d half = _mm256_castsi256_pd(_mm256_slli_epi64(bits, 52));
    return _mm256_mul_pd(_mm256_mul_pd(value, half), all(2.0));
}

#ifdef __AVX512F__
/// The polynomial's error is 2e-17 of e^r for |r| <= ln 2 / 32.
inline __m512d exponential(__m512d x) {
    const auto all = [](double a) { return _mm512_set1_pd(a); };
    const __m512d first = _mm512_setr_pd(1.0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0,
                                         0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0,
                                         0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0);
    const __m512d second = _mm512_setr_pd(0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0,
                                          0x1.9c49182a3f090p+0, 0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0,
                                          0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0);
    x = _mm512_min_pd(x, all(exp_overflows));
    const __m512d shifted = _mm512_fmadd_pd(x, all(0x1.71547652b82fep+4), all(to_whole));
    const __m512d n = _mm512_sub_pd(shifted, all(to_whole));
    __m512d r = _mm512_fnmadd_pd(n, all(0x1.62e42fefa0000p-5), x);
    r = _mm512_fnmadd_pd(n, all(0x1.cf79abc9e3b3ap-44), r);
    // The permutation uses only the lowest four bits.
    const __m512d table = _mm512_permutex2var_pd(first, _mm512_castpd_si512(shifted), second);
    const __m512d r2 = _mm512_mul_pd(r, r);
    const auto pair = [&](double a, double b) { return _mm512_fmadd_pd(all(b), r, all(a)); };
    __m512d p = _mm512_fmadd_pd(all(1.3888863155064718434006376668321536271832883358001708984375e-3), r2,
                                pair(4.166666667486025599220766935104620642960071563720703125e-2,
                                     8.33346297414274371495590543190701282583177089691162109375e-3));
    p = _mm512_fmadd_pd(p, r2,
                        pair(0.4999999999999988897769753748434595763683319091796875,
                             0.166666666647843297877074064672342501580715179443359375));
    const __m512d value = _mm512_fmadd_pd(table, _mm512_fmadd_pd(p, r2, r), table);
    // The instruction rounds the exponent down, which removes j / 16.
    return _mm512_scalef_pd(value, _mm512_mul_pd(n, all(1.0 / 16.0)));
}
#endif

} // namespace
