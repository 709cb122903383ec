#pragma once

/// Matches at many positions at once, without branches: the next symbols of a text are unpredictable, so that
/// a branch that depends on them costs as much as tens of instructions.

#include "kernels/deflate/codec/greedy.hpp"

#include <immintrin.h>

namespace assay::kernels {

namespace {

/// Number of positions in a batch.
constexpr std::size_t batch = 64;
/// Number of bytes that a batch compares for each match. Longer matches are extended one by one.
constexpr std::size_t compared_length = 16;
/// Number of input bytes of a batch.
constexpr std::size_t batch_reads = batch + compared_length;
constexpr unsigned batch_hash_bits = 14;
/// Maximum distance of a match of four bytes: at a larger distance, four literals take fewer bits.
constexpr short max_distance_of_four = 8192;

/// Match at each position of a batch.
struct Batch {
    alignas(64) std::uint8_t length[batch + 32]; ///< 0 if no match saves bits.
    alignas(64) std::uint16_t distance[batch];
    std::uint64_t taken; ///< Positions whose match is not shorter than that of the next position.
};

/// Return the hashes of the four bytes that begin at each of eight positions.
inline __m256i hashes(const unsigned char* text) {
    const __m256i order = _mm256_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6, 4, 5, 6, 7, 5, 6,
                                           7, 8, 6, 7, 8, 9, 7, 8, 9, 10);
    const __m256i bytes =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text)));
    const __m256i words = _mm256_shuffle_epi8(bytes, order);
    const __m256i factor = _mm256_set1_epi32(static_cast<int>(golden));
    return _mm256_srli_epi32(_mm256_mullo_epi32(words, factor), 32 - batch_hash_bits);
}

/// Find the last position with the same hash, and the number of equal bytes, for each position of a batch.
inline void probe(const unsigned char* text, std::size_t at, Place* head, Batch& found) {
    for (std::size_t i = 0; i < batch; i += 8) {
        alignas(32) std::uint32_t hash[8];
        _mm256_store_si256(reinterpret_cast<__m256i*>(hash), hashes(text + at + i));
        for (std::size_t k = 0; k < 8; ++k) {
            const unsigned char* const here = text + at + i + k;
            const std::size_t distance = back(at + i + k, head[hash[k]]);
            head[hash[k]] = static_cast<Place>(at + i + k);
            const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(here));
            const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(here - distance));
            const auto other = ~static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)));
            found.distance[i + k] = static_cast<std::uint16_t>(distance);
            found.length[i + k] = static_cast<std::uint8_t>(std::countr_zero(other));
        }
    }
}

/// Keep only the matches that save bits.
inline void keep_useful(Batch& found) {
    const __m256i zero = _mm256_setzero_si256();
    for (std::size_t i = 0; i < batch; i += 32) {
        const auto* const distance = reinterpret_cast<const __m256i*>(found.distance + i);
        auto* const length = reinterpret_cast<__m256i*>(found.length + i);
        // Distance 0, and distances beyond the window, are negative after 1 is subtracted, as signed numbers.
        const __m256i one = _mm256_set1_epi16(1), four = _mm256_set1_epi16(max_distance_of_four - 1);
        const __m256i a = _mm256_sub_epi16(_mm256_load_si256(distance), one);
        const __m256i b = _mm256_sub_epi16(_mm256_load_si256(distance + 1), one);
        const auto packed = [](__m256i low, __m256i high) {
            return _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
        };
        const __m256i outside = _mm256_cmpgt_epi8(zero, packed(a, b));
        const __m256i far = packed(_mm256_cmpgt_epi16(a, four), _mm256_cmpgt_epi16(b, four));
        const __m256i n = _mm256_load_si256(length);
        // A match of three bytes never saves bits, one of four bytes only if it is near.
        const __m256i max_omitted = _mm256_sub_epi8(_mm256_set1_epi8(3), far);
        const __m256i worth = _mm256_andnot_si256(outside, _mm256_cmpgt_epi8(n, max_omitted));
        _mm256_store_si256(length, _mm256_and_si256(n, worth));
    }
    _mm256_store_si256(reinterpret_cast<__m256i*>(found.length + batch), zero);
    found.taken = 0;
    for (std::size_t i = 0; i < batch; i += 32) {
        const __m256i n = _mm256_load_si256(reinterpret_cast<const __m256i*>(found.length + i));
        const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(found.length + i + 1));
        const __m256i taken = _mm256_andnot_si256(_mm256_cmpgt_epi8(next, n), _mm256_cmpgt_epi8(n, zero));
        found.taken |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(taken))} << i;
    }
}

/// Write the tokens of eight literals.
inline void eight_literals(const unsigned char* text, Token* token) {
    const __m256i none = _mm256_set1_epi32(no_distance << symbol_shift);
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(text));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(token),
                        _mm256_or_si256(_mm256_cvtepu8_epi32(bytes), none));
}

/// Write the tokens of `n` literals, rounded up to a multiple of eight: this avoids a branch that depends on
/// their number.
inline Token* literals_of(const unsigned char* text, std::size_t n, Token* token) {
    eight_literals(text, token);
    for (std::size_t i = 8; i < n; i += 8) eight_literals(text + i, token + i);
    return token + n;
}

/// Way to make tokens: one match after another.
struct Batches {
    using Found = Batch;

    static void find(const Text& text, Place* head, Batch& found) {
        probe(text.bytes, text.at, head, found);
        keep_useful(found);
    }

    /// Make the tokens of a batch, beginning at its position `begin`.
    ///
    /// \return the position where the last token ends, possibly beyond the batch.
    static std::size_t walk(const Text& text, const Batch& found, std::size_t begin, Token*& token) {
        const unsigned char* const here = text.bytes + text.at;
        std::size_t i = begin;
        while (i < batch) {
            const std::uint64_t rest = found.taken >> i;
            if (rest == 0) {
                token = literals_of(here + i, batch - i, token);
                return batch;
            }
            const auto run = static_cast<std::size_t>(std::countr_zero(rest));
            token = literals_of(here + i, run, token);
            i += run;
            std::size_t length = found.length[i];
            const std::size_t distance = found.distance[i];
            if (length == compared_length)
                length =
                    same(here + i, here + i - distance, length, minimum(text.n - text.at - i, longest_match));
            *token++ = match(length, distance);
            i += length;
        }
        return i;
    }
};

/// \tparam Way functions that find the matches of a batch and make its tokens.
template <class Way>
struct InBatches {
    static void begin(Scratch& scratch) { clear(scratch.head, 1U << batch_hash_bits); }

    static Token* tokens(Scratch& scratch, Text& text, std::size_t end) {
        Token* token = scratch.tokens;
        typename Way::Found found;
        std::size_t begin = 0;
        while (text.at + begin < end && text.n - text.at >= batch_reads) {
            if (begin < batch) {
                Way::find(text, scratch.head, found);
                begin = Way::walk(text, found, begin, token);
            }
            text.at += batch;
            begin -= batch;
        }
        text.at += begin;
        // The remaining positions at the end of the text.
        if (text.n - text.at < batch_reads)
            token = greedy<batch_hash_bits>(text, text.n, scratch.head, token);
        return token;
    }
};

} // namespace

} // namespace assay::kernels
