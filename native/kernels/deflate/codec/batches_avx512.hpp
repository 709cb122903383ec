#pragma once

/// Batches with vectors of 512 bits, in which tokens are computed for all positions, and the unused ones are
/// dropped.

// GCC 12 warns about undefined vectors in its own header (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include "kernels/deflate/codec/batches.hpp"

namespace assay::kernels {

namespace {

constexpr std::size_t lanes = 16;
constexpr std::size_t groups = batch / lanes;

inline __m512i all(std::uint32_t value) {
    return _mm512_set1_epi32(static_cast<int>(value));
}

/// Match at each position of a batch, and the token of the match.
struct WideBatch {
    alignas(64) std::uint8_t length[batch];
    alignas(64) std::uint16_t distance[batch];
    /// A bit for each byte that equals the one at the candidate's position.
    alignas(64) std::uint16_t same[batch];
    alignas(64) Token token[batch];
    std::uint64_t taken;
};

/// Return the hashes of the four bytes that begin at each of sixteen positions.
inline __m512i wide_hashes(const unsigned char* text) {
    const __m512i pairs = _mm512_setr_epi32(0, 1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3, 4, 0, 0);
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6));
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text));
    const __m512i words =
        _mm512_shuffle_epi8(_mm512_permutexvar_epi32(pairs, _mm512_castsi256_si512(bytes)), order);
    return _mm512_srli_epi32(_mm512_mullo_epi32(words, all(golden)), 32 - batch_hash_bits);
}

inline void probe(const unsigned char* text, std::size_t at, Place* head, WideBatch& found) {
    for (std::size_t i = 0; i < batch; i += lanes) {
        alignas(64) std::uint32_t hash[lanes];
        _mm512_store_si512(hash, wide_hashes(text + at + i));
        for (std::size_t k = 0; k < lanes; ++k) {
            const unsigned char* const here = text + at + i + k;
            const std::size_t distance = back(at + i + k, head[hash[k]]);
            head[hash[k]] = static_cast<Place>(at + i + k);
            const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(here));
            const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(here - distance));
            found.distance[i + k] = static_cast<std::uint16_t>(distance);
            found.same[i + k] = _mm_cmpeq_epi8_mask(a, b);
        }
    }
}

/// Return the number of trailing one bits of each word of sixteen bits.
inline __m512i trailing_ones(__m512i words) {
    const __m512i next = _mm512_andnot_si512(words, _mm512_add_epi32(words, all(1)));
    return _mm512_sub_epi32(all(31), _mm512_lzcnt_epi32(next));
}

/// Vector form of `match`.
inline __m512i matches(__m512i length, __m512i distance) {
    const __m512i one = all(1);
    const __m512i beyond = _mm512_sub_epi32(distance, one);
    const __m512i extra_bits = _mm512_sub_epi32(all(30), _mm512_lzcnt_epi32(_mm512_or_si512(beyond, all(2))));
    const __m512i half = _mm512_and_si512(_mm512_srlv_epi32(beyond, extra_bits), one);
    const __m512i symbol = _mm512_add_epi32(_mm512_slli_epi32(extra_bits, 1), half);
    // Distances 1 and 2 have the symbols 0 and 1; the symbols of all others are higher by 2.
    const __mmask16 more = _mm512_cmpgt_epu32_mask(beyond, one);
    const __m512i placed = _mm512_mask_add_epi32(symbol, more, symbol, all(2));
    const __m512i extra = _mm512_andnot_si512(_mm512_sllv_epi32(all(~0U), extra_bits), beyond);
    const __m512i first = _mm512_add_epi32(length, all(token_lengths - shortest_match));
    return _mm512_or_si512(_mm512_or_si512(first, _mm512_slli_epi32(placed, symbol_shift)),
                           _mm512_slli_epi32(extra, extra_shift));
}

/// Keep only the matches that save bits, and compute the tokens.
inline void keep_useful(const unsigned char* here, WideBatch& found) {
    __m512i length[groups + 1], distance[groups];
    for (std::size_t g = 0; g < groups; ++g) {
        const auto* const back = reinterpret_cast<const __m256i*>(found.distance + g * lanes);
        const auto* const same = reinterpret_cast<const __m256i*>(found.same + g * lanes);
        distance[g] = _mm512_cvtepu16_epi32(_mm256_load_si256(back));
        const __m512i n = trailing_ones(_mm512_cvtepu16_epi32(_mm256_load_si256(same)));
        const __mmask16 inside = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(distance[g], all(1)), all(window));
        const __mmask16 far = _mm512_cmpgt_epu32_mask(distance[g], all(max_distance_of_four));
        const __m512i max_omitted = _mm512_mask_mov_epi32(all(3), far, all(4));
        length[g] = _mm512_maskz_mov_epi32(_mm512_mask_cmpgt_epu32_mask(inside, n, max_omitted), n);
        _mm_store_si128(reinterpret_cast<__m128i*>(found.length + g * lanes),
                        _mm512_cvtepi32_epi8(length[g]));
    }
    length[groups] = _mm512_setzero_si512();
    found.taken = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        const __m512i next = _mm512_alignr_epi32(length[g + 1], length[g], 1);
        const __mmask16 some = _mm512_test_epi32_mask(length[g], length[g]);
        const __mmask16 taken = _mm512_mask_cmple_epu32_mask(some, next, length[g]);
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(here + g * lanes));
        const __m512i plain = _mm512_or_si512(_mm512_cvtepu8_epi32(bytes), all(no_distance << symbol_shift));
        _mm512_store_si512(found.token + g * lanes,
                           _mm512_mask_mov_epi32(plain, taken, matches(length[g], distance[g])));
        found.taken |= std::uint64_t{taken} << (g * lanes);
    }
}

/// Write the tokens of the given positions.
inline Token* pick(const WideBatch& found, std::uint64_t places, Token* token) {
    for (std::size_t g = 0; g < groups; ++g) {
        const auto own = static_cast<__mmask16>(places >> (g * lanes));
        const __m512i tokens = _mm512_load_si512(found.token + g * lanes);
        _mm512_storeu_si512(token, _mm512_maskz_compress_epi32(own, tokens));
        token += std::popcount(static_cast<std::uint32_t>(own));
    }
    return token;
}

struct WideBatches {
    using Found = WideBatch;

    static void find(const Text& text, Place* head, WideBatch& found) {
        probe(text.bytes, text.at, head, found);
        keep_useful(text.bytes + text.at, found);
    }

    static std::size_t walk(const Text& text, WideBatch& found, std::size_t begin, Token*& token) {
        const unsigned char* const here = text.bytes + text.at;
        std::uint64_t places = ~std::uint64_t{0} << begin;
        std::size_t i = begin;
        // Go from each match to the next. Positions within a match, except the first, have no tokens.
        for (std::uint64_t rest = found.taken & places; rest != 0;) {
            const auto at = static_cast<std::size_t>(std::countr_zero(rest));
            std::size_t length = found.length[at];
            if (length == compared_length) {
                length = same(here + at, here + at - found.distance[at], length,
                              minimum(text.n - text.at - at, longest_match));
                found.token[at] = match(length, found.distance[at]);
            }
            i = at + length;
            const std::uint64_t after = i < batch ? ~std::uint64_t{0} << i : 0;
            places &= after | ((std::uint64_t{2} << at) - 1);
            rest &= after;
        }
        token = pick(found, places, token);
        return i < batch ? batch : i;
    }
};

} // namespace

} // namespace assay::kernels
