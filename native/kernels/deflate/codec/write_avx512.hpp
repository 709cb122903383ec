#pragma once

/// Write sixteen tokens at once: look up their words and join them in pairs before writing any bits.

// GCC 12 warns about undefined vectors in its own header (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include "kernels/deflate/codec/tokens.hpp"

#include <immintrin.h>

namespace assay::kernels {

namespace {

/// Eight tokens, in lanes of 64 bits: the bits to write, and their number.
struct EightTokens {
    __m512i bits, count;
};

/// \param words, far entries of `Words`, each in the lower half of a lane.
inline EightTokens joined(__m512i words, __m512i far, __m512i extra) {
    const __m512i low = _mm512_set1_epi64(63);
    const __m512i own = _mm512_and_si512(words, low);
    const __m512i distance = _mm512_or_si512(_mm512_srli_epi64(far, 2 * bits_shift),
                                             _mm512_sllv_epi64(extra, _mm512_and_si512(far, low)));
    const __m512i bits =
        _mm512_or_si512(_mm512_srli_epi64(words, bits_shift), _mm512_sllv_epi64(distance, own));
    const __m512i more = _mm512_and_si512(_mm512_srli_epi64(far, bits_shift), low);
    return {bits, _mm512_add_epi64(own, more)};
}

constexpr std::size_t at_once = 16;

struct InPairs {
    static void write(BitWriter& out, const Token* tokens, std::size_t n, const Words& words) {
        constexpr long long max_bits = 56; ///< Maximum number of bits written at once.
        BitWriter own = out;
        const __m512i far_low = _mm512_loadu_si512(words.distance);
        const __m512i far_high = _mm512_loadu_si512(words.distance + at_once);
        const __m512i even = _mm512_set1_epi64(0xffffffff);
        std::size_t i = 0;
        for (; i + at_once <= n; i += at_once) {
            const __m512i token = _mm512_loadu_si512(tokens + i);
            const __m512i symbol = _mm512_and_si512(token, _mm512_set1_epi32(token_symbols - 1));
            const __m512i literal = _mm512_i32gather_epi32(symbol, words.literal, 4);
            const __m512i far =
                _mm512_permutex2var_epi32(far_low, _mm512_srli_epi32(token, symbol_shift), far_high);
            const __m512i extra = _mm512_srli_epi32(token, extra_shift);
            const EightTokens a = joined(_mm512_and_si512(literal, even), _mm512_and_si512(far, even),
                                         _mm512_and_si512(extra, even));
            const EightTokens b = joined(_mm512_srli_epi64(literal, 32), _mm512_srli_epi64(far, 32),
                                         _mm512_srli_epi64(extra, 32));
            const __m512i count = _mm512_add_epi64(a.count, b.count);
            if (_mm512_cmpgt_epi64_mask(count, _mm512_set1_epi64(max_bits))) {
                for (std::size_t k = 0; k < at_once; ++k) write_token(own, tokens[i + k], words);
                continue;
            }
            alignas(64) std::uint64_t bits[at_once / 2], counts[at_once / 2];
            _mm512_store_si512(bits, _mm512_or_si512(a.bits, _mm512_sllv_epi64(b.bits, a.count)));
            _mm512_store_si512(counts, count);
            for (std::size_t k = 0; k < at_once / 2; ++k) own.put(bits[k], static_cast<unsigned>(counts[k]));
        }
        for (; i < n; ++i) write_token(own, tokens[i], words);
        out = own;
    }
};

} // namespace

} // namespace assay::kernels
