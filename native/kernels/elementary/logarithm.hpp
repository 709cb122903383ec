#pragma once

/// ln x of whole vectors within two units in the last place, with all special values. Local to the including
/// file, since variants are compiled for different processors.

// GCC 12 warns about undefined vectors in its own header (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <float.h>
#include <immintrin.h>
#include <math.h>

namespace {

/// ln 2 in two parts: the first ends in enough zeros that its product with an exponent is exact.
constexpr double ln2_high = 0x1.62e42fefa0000p-1;
constexpr double ln2_low = 0x1.cf79abc9e3b3ap-40;

/// x = 2^k z, sqrt(1/2) <= z < sqrt(2), s = (z - 1) / (z + 1): ln z = 2 artanh s, arranged as by Sun's fdlibm
/// (e_log.c, 1993). Polynomial by Sollya's fpminimax: error 5e-18 of 2 artanh(s) / s.
inline __m256d logarithm(__m256d x) {
    const auto all = [](double a) { return _mm256_set1_pd(a); };
    const auto bits_of = [](long long a) { return _mm256_set1_epi64x(a); };
    const __m256d zero = _mm256_setzero_pd();
    const __m256d beyond = _mm256_cmp_pd(x, all(DBL_MAX), _CMP_NLE_UQ);
    const bool unusual =
        _mm256_movemask_pd(_mm256_or_pd(_mm256_cmp_pd(x, all(DBL_MIN), _CMP_LT_OQ), beyond)) != 0;
    __m256d scaled = x, correction = zero;
    if (__builtin_expect(unusual, 0)) {
        const __m256d small = _mm256_cmp_pd(x, all(DBL_MIN), _CMP_LT_OQ);
        scaled = _mm256_blendv_pd(x, _mm256_mul_pd(x, all(0x1p54)), small);
        correction = _mm256_and_pd(small, all(54.0));
    }
    // The exponent of x / sqrt(1/2), which is converted to a double through the lowest bits of its mantissa.
    constexpr long long root = 0x3FE6A09E667F3BCD, magic = 0x4338000000000000;
    const __m256i bits = _mm256_sub_epi64(_mm256_castpd_si256(scaled), bits_of(root));
    const __m256i exponent = _mm256_sub_epi64(
        _mm256_srli_epi64(_mm256_add_epi64(bits, bits_of(1LL << 62)), 52), bits_of((1LL << 10)));
    const __m256d k = _mm256_sub_pd(
        _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(exponent, bits_of(magic))), all(0x1.8p52)),
        correction);
    const __m256i fraction = _mm256_and_si256(bits, bits_of(0x000FFFFFFFFFFFFF));
    const __m256d z = _mm256_castsi256_pd(_mm256_add_epi64(fraction, bits_of(root)));
    const __m256d f = _mm256_sub_pd(z, all(1.0));
    const __m256d s = _mm256_div_pd(f, _mm256_add_pd(z, all(1.0)));
    const __m256d s2 = _mm256_mul_pd(s, s), s4 = _mm256_mul_pd(s2, s2);
    const auto pair = [&](double a, double b) { return _mm256_fmadd_pd(all(b), s2, all(a)); };
    __m256d p = _mm256_fmadd_pd(all(0.14617797125374243361051185274845920503139495849609375), s4,
                                pair(0.181828924628685550946016746820532716810703277587890625,
                                     0.1533161084205467187428574796538683585822582244873046875));
    p = _mm256_fmadd_pd(p, s4,
                        pair(0.285714286262102046265454191598109900951385498046875,
                             0.2222221109052323895216574101141609704277276763916015625));
    p = _mm256_fmadd_pd(p, s4,
                        pair(0.66666666666666696272613990004174411296844482421875,
                             0.399999999998992772365369319231831468641757965087890625));
    const __m256d half = _mm256_mul_pd(_mm256_mul_pd(f, f), all(0.5));
    const __m256d rest = _mm256_fmadd_pd(s, _mm256_fmadd_pd(p, s2, half), _mm256_mul_pd(k, all(ln2_low)));
    __m256d found = _mm256_fmadd_pd(k, all(ln2_high), _mm256_sub_pd(f, _mm256_sub_pd(half, rest)));
    if (__builtin_expect(!unusual, 1)) return found;
    // The logarithm of zero is -infinity, that of negative numbers is NaN; infinity and NaN pass unchanged.
    found = _mm256_blendv_pd(found, all(-INFINITY), _mm256_cmp_pd(x, zero, _CMP_EQ_OQ));
    found = _mm256_blendv_pd(found, all(NAN), _mm256_cmp_pd(x, zero, _CMP_LT_OQ));
    return _mm256_blendv_pd(found, x, beyond);
}

#ifdef __AVX512F__
/// x = 2^k z, 47/64 <= z < 94/64, in sixteen intervals about c: ln x = k ln 2 + ln c + ln(1 + r), r = z/c - 1
/// (P. T. P. Tang, "Table-driven implementation of the logarithm function", ACM TOMS 16, 1990). c is 1 in the
/// interval around 1, so that the result is accurate there. Polynomial by Sollya's fpminimax: error 1e-17 of
/// ln(1 + r) for -1/34 <= r <= 1/32.
inline __m512d logarithm(__m512d x) {
    const auto all = [](double a) { return _mm512_set1_pd(a); };
    const auto bits_of = [](long long a) { return _mm512_set1_epi64(a); };
    const __m512d inverse_0 = _mm512_setr_pd(0x1.5555555555555p+0, 0x1.47ae147ae147bp+0, 0x1.3b13b13b13b14p+0,
                                             0x1.2f684bda12f68p+0, 0x1.2492492492492p+0, 0x1.1a7b9611a7b96p+0,
                                             0x1.1111111111111p+0, 0x1.0842108421084p+0);
    const __m512d inverse_1 = _mm512_setr_pd(1.0, 0x1.e1e1e1e1e1e1ep-1, 0x1.c71c71c71c71cp-1,
                                             0x1.af286bca1af28p-1, 0x1.999999999999ap-1, 0x1.8618618618618p-1,
                                             0x1.745d1745d1746p-1, 0x1.642c8590b2164p-1);
    const __m512d log_0 = _mm512_setr_pd(-0x1.269621134db91p-2, -0x1.f991c6cb3b37ap-3, -0x1.a93ed3c8ad9e5p-3,
                                         -0x1.5bf406b543db0p-3, -0x1.1178e8227e47ap-3, -0x1.9335e5d594988p-4,
                                         -0x1.08598b59e3a06p-4, -0x1.0415d89e74440p-5);
    const __m512d log_1 = _mm512_setr_pd(0.0, 0x1.f0a30c01162a8p-5, 0x1.e27076e2af2eap-4,
                                         0x1.5ff3070a793d6p-3, 0x1.c8ff7c79a9a20p-3, 0x1.1675cababa60fp-2,
                                         0x1.4618bc21c5ec2p-2, 0x1.739d7f6bbd007p-2);
    __m512d scaled = x, correction = _mm512_setzero_pd();
    const __mmask8 small = _mm512_cmp_pd_mask(_mm512_abs_pd(x), all(DBL_MIN), _CMP_LT_OQ);
    if (__builtin_expect(small != 0, 0)) {
        scaled = _mm512_mask_mul_pd(x, small, x, all(0x1p54));
        correction = _mm512_maskz_mov_pd(small, all(54.0));
    }
    constexpr long long smallest_z = 0x3FE7800000000000; // 47/64
    const __m512i bits = _mm512_sub_epi64(_mm512_castpd_si512(scaled), bits_of(smallest_z));
    const __m512d k = _mm512_sub_pd(_mm512_cvtepi64_pd(_mm512_srai_epi64(bits, 52)), correction);
    const __m512i interval = _mm512_srli_epi64(bits, 48);
    const __m512i fraction = _mm512_and_si512(bits, bits_of(0x000FFFFFFFFFFFFF));
    const __m512d z = _mm512_castsi512_pd(_mm512_add_epi64(fraction, bits_of(smallest_z)));
    // The permutation uses only the lowest four bits.
    const __m512d inverse = _mm512_permutex2var_pd(inverse_0, interval, inverse_1);
    const __m512d log_c = _mm512_permutex2var_pd(log_0, interval, log_1);
    const __m512d r = _mm512_fmsub_pd(z, inverse, all(1.0));
    const __m512d r2 = _mm512_mul_pd(r, r), r4 = _mm512_mul_pd(r2, r2);
    const auto pair = [&](double a, double b) { return _mm512_fmadd_pd(all(b), r, all(a)); };
    const __m512d high = _mm512_fmadd_pd(pair(-0.12521260289116142860876834868774654762852191925048828125,
                                              0.1109479643129641368570759141221060417592525482177734375),
                                         r2,
                                         pair(-0.1666665163266150273546628568510641343891620635986328125,
                                              0.14285758224217659506649624745477922260761260986328125));
    const __m512d low = _mm512_fmadd_pd(pair(-0.2500000000392057497577980029745958745479583740234375,
                                             0.199999999757941193667676316181314177811145782470703125),
                                        r2,
                                        pair(-0.499999999999997279953589668366475962102413177490234375,
                                             0.333333333333368619921799336225376464426517486572265625));
    const __m512d p = _mm512_fmadd_pd(high, r4, low);
    const __m512d whole = _mm512_fmadd_pd(k, all(ln2_high), log_c);
    const __m512d rest = _mm512_fmadd_pd(p, r2, _mm512_mul_pd(k, all(ln2_low)));
    const __m512d found = _mm512_add_pd(whole, _mm512_add_pd(r, rest));
    // Table of results by class of x, with four bits for each class, from the lowest bits: NaN stays (2),
    // zero gives -infinity (4), infinity stays (5), negative numbers give NaN (3).
    constexpr long long kinds = 0x03530422;
    return _mm512_fixupimm_pd(found, x, bits_of(kinds), 0);
}
#endif

} // namespace
