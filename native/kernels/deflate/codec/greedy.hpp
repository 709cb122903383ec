#pragma once

/// Use any match at the only position that is stored for a hash.

#include "kernels/deflate/codec/scratch.hpp"

namespace assay::kernels {

namespace {

constexpr std::size_t hashed = 4; ///< Bytes.

/// 2^32 divided by the golden ratio (Knuth 1973), changed to a prime.
constexpr std::uint32_t golden = 0x9e3779b1U;

inline std::uint32_t hash_of(std::uint32_t word, unsigned bits) {
    return word * golden >> (32U - bits);
}

/// Return the number of equal bytes from `begin` on, up to a limit.
inline std::size_t same(const unsigned char* a, const unsigned char* b, std::size_t begin,
                        std::size_t max_length) {
    std::size_t n = begin;
    for (; n + 8 <= max_length; n += 8)
        if (const std::uint64_t other = load_64(a + n) ^ load_64(b + n); other != 0)
            return n + static_cast<std::size_t>(std::countr_zero(other)) / 8;
    while (n < max_length && a[n] == b[n]) ++n;
    return n;
}

inline std::size_t minimum(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

/// Input of the compression, and the current position.
struct Text {
    const unsigned char* bytes;
    std::size_t n;
    std::size_t at;
};

/// Return the distance to a stored position. It is 0, or larger than the window, if none is stored.
inline std::size_t back(std::size_t at, Place place) {
    return static_cast<Place>(at - place);
}

/// Make the tokens of the text up to `end`, one position at a time.
template <unsigned bits>
Token* greedy(Text& text, std::size_t end, Place* head, Token* token) {
    while (text.at < end) {
        const unsigned char* const here = text.bytes + text.at;
        const std::size_t left = minimum(text.n - text.at, longest_match);
        if (left < hashed) {
            *token++ = literal(*here);
            ++text.at;
            continue;
        }
        const std::uint32_t word = load_32(here);
        Place& place = head[hash_of(word, bits)];
        const std::size_t distance = back(text.at, place);
        place = static_cast<Place>(text.at);
        if (distance - 1 < window && load_32(here - distance) == word) {
            const std::size_t length = same(here, here - distance, hashed, left);
            *token++ = match(length, distance);
            text.at += length;
        } else {
            *token++ = literal(*here);
            ++text.at;
        }
    }
    return token;
}

struct Greedy {
    static void begin(Scratch& scratch) { clear(scratch.head, 1U << hash_bits); }
    static Token* tokens(Scratch& scratch, Text& text, std::size_t end) {
        return greedy<hash_bits>(text, end, scratch.head, scratch.tokens);
    }
};

} // namespace

} // namespace assay::kernels
