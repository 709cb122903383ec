#pragma once

/// Literals and matches of a block before it is written, each stored in a word.

#include "kernels/deflate/codec/codes.hpp"
#include "kernels/deflate/codec/writer.hpp"

#include <bit>

namespace assay::kernels {

namespace {

/// Bits 0 to 8: a literal's byte, or 256 + length - 3. From bit 9: symbol of the distance. From bit 14: its
/// extra bits.
using Token = std::uint32_t;

constexpr unsigned token_lengths = 256; ///< Lengths begin here in the lowest nine bits of a token.
constexpr unsigned token_symbols = 512;
constexpr unsigned symbol_shift = 9;
constexpr unsigned extra_shift = 14;
constexpr unsigned no_distance = distances; ///< Symbol of the distance of a literal, which has none.

/// Maximum number of bytes in a block; a match may extend beyond it.
constexpr std::size_t block_bytes = 65536;
/// Length of the first of several blocks: with little text before it, it has few matches and needs other
/// codes.
constexpr std::size_t first_block_bytes = 10240;
/// Literals are written in groups, beyond the last token.
constexpr std::size_t token_slack = 64;

inline Token literal(unsigned char byte) {
    return byte | no_distance << symbol_shift;
}

/// Return the token of a match. Distances double with every second symbol.
inline Token match(std::size_t length, std::size_t distance) {
    const auto beyond = static_cast<std::uint32_t>(distance - 1);
    const auto top = static_cast<std::uint32_t>(std::bit_width(beyond | 2U)) - 1U;
    const std::uint32_t half = beyond >> (top - 1U);
    const std::uint32_t symbol = 2U * top + (half & 1U) - (beyond < 2U ? 2U : 0U);
    const std::uint32_t extra = beyond & ((1U << (top - 1U)) - 1U);
    return static_cast<Token>(token_lengths + length - shortest_match) | symbol << symbol_shift |
           extra << extra_shift;
}

/// Symbols of lengths, from 257 on; the index is length - 3.
struct LengthSymbols {
    std::uint16_t of[longest_match - shortest_match + 1];
};

constexpr LengthSymbols length_symbols = [] {
    LengthSymbols found{};
    for (unsigned s = 0; s <= last_length - first_length; ++s)
        for (unsigned k = 0; k < 1U << lengths_by_symbol[s].extra; ++k)
            if (const unsigned length = lengths_by_symbol[s].base + k; length <= longest_match)
                found.of[length - shortest_match] = static_cast<std::uint16_t>(first_length + s);
    return found;
}();

struct Counts {
    std::uint32_t literal[literals];
    std::uint32_t distance[distances];
};

/// Count symbols in two alternate sets of counters, so that an increment does not wait for the previous one
/// of the same counter.
inline void count(const Token* tokens, std::size_t n, Counts& found) {
    std::uint32_t of[2][token_symbols] = {}, far[2][distances + 2] = {};
    std::size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        const Token a = tokens[i], b = tokens[i + 1];
        ++of[0][a % token_symbols];
        ++far[0][a >> symbol_shift & 31U];
        ++of[1][b % token_symbols];
        ++far[1][b >> symbol_shift & 31U];
    }
    if (i < n) {
        ++of[0][tokens[i] % token_symbols];
        ++far[0][tokens[i] >> symbol_shift & 31U];
    }
    found = {};
    for (std::size_t s = 0; s < token_lengths; ++s) found.literal[s] = of[0][s] + of[1][s];
    for (std::size_t s = 0; s < token_symbols - token_lengths; ++s)
        found.literal[length_symbols.of[s]] += of[0][token_lengths + s] + of[1][token_lengths + s];
    for (std::size_t s = 0; s < distances; ++s) found.distance[s] = far[0][s] + far[1][s];
    found.literal[end_of_block] = 1;
}

/// The two codes of a block.
struct Codes {
    std::uint8_t literal_length[literals];
    std::uint8_t distance_length[distances];
};

inline Codes fixed_codes() {
    Codes found;
    for (std::size_t s = 0; s < literals; ++s) found.literal_length[s] = fixed_length(s);
    for (std::uint8_t& length : found.distance_length) length = fixed_distance_length;
    return found;
}

inline Codes codes_for(Counts& counts) {
    Codes found;
    lengths_of(counts.literal, last_length + 1, longest_code, found.literal_length);
    found.literal_length[last_length + 1] = found.literal_length[last_length + 2] = 0;
    lengths_of(counts.distance, distances, longest_code, found.distance_length);
    return found;
}

/// Return the number of bits of a block's tokens and its end.
inline std::uint64_t bits_of(const Counts& counts, const Codes& codes) {
    std::uint64_t bits = 0;
    for (std::size_t s = 0; s <= last_length; ++s) {
        const unsigned extra = s < first_length ? 0 : lengths_by_symbol[s - first_length].extra;
        bits += std::uint64_t{counts.literal[s]} * (codes.literal_length[s] + extra);
    }
    for (std::size_t s = 0; s < distances; ++s)
        bits += std::uint64_t{counts.distance[s]} * (codes.distance_length[s] + distances_by_symbol[s].extra);
    return bits;
}

/// Bits of tokens, in words that can be shift counts directly: a shift uses only the six lowest bits.
struct Words {
    /// Number of bits, and above it the word with the extra bits of a length.
    std::uint32_t literal[token_symbols];
    std::uint32_t distance[distances + 2]; ///< Bits of the word, number of extra bits, and the word.
    std::uint32_t end;
};

constexpr unsigned bits_shift = 6;

inline void prepare(const Codes& codes, Words& words) {
    std::uint16_t literal[literals], distance[distances];
    words_of(codes.literal_length, literals, literal);
    words_of(codes.distance_length, distances, distance);
    for (unsigned s = 0; s < token_lengths; ++s)
        words.literal[s] = codes.literal_length[s] | std::uint32_t{literal[s]} << bits_shift;
    words.end = codes.literal_length[end_of_block] | std::uint32_t{literal[end_of_block]} << bits_shift;
    for (unsigned k = 0; k < token_symbols - token_lengths; ++k) {
        const unsigned symbol = length_symbols.of[k];
        const Interval& of = lengths_by_symbol[symbol - first_length];
        const unsigned bits = codes.literal_length[symbol];
        const std::uint32_t word = literal[symbol] | (k + unsigned{shortest_match} - of.base) << bits;
        words.literal[token_lengths + k] = (bits + of.extra) | word << bits_shift;
    }
    for (std::size_t s = 0; s < distances; ++s) {
        const unsigned bits = codes.distance_length[s];
        words.distance[s] = bits | (bits + distances_by_symbol[s].extra) << bits_shift |
                            std::uint32_t{distance[s]} << 2 * bits_shift;
    }
    words.distance[no_distance] = words.distance[no_distance + 1] = 0;
}

/// Write a literal or a match by the same steps, since their order is unpredictable.
inline void write_token(BitWriter& out, Token token, const Words& words) {
    const std::uint32_t a = words.literal[token % token_symbols];
    const std::uint32_t b = words.distance[token >> symbol_shift & 31U];
    const std::uint64_t far = b >> 2 * bits_shift | std::uint64_t{token >> extra_shift} << (b & 63U);
    out.put(a >> bits_shift | far << (a & 63U), (a + (b >> bits_shift)) & 63U);
}

/// Writer of one token after another.
struct Singly {
    static void write(BitWriter& out, const Token* tokens, std::size_t n, const Words& words) {
        BitWriter own = out;
        for (std::size_t i = 0; i < n; ++i) write_token(own, tokens[i], words);
        out = own;
    }
};

/// Write all tokens of a block, and its end.
template <class Writing>
void write_tokens(BitWriter& out, const Token* tokens, std::size_t n, const Words& words) {
    Writing::write(out, tokens, n, words);
    out.put(words.end >> bits_shift, words.end & 63U);
}

/// Lengths of both codes as they are sent: run-length encoded in a few symbols, which have a code of their
/// own.
struct Header {
    std::uint16_t symbol[literals + distances]; ///< Extra bits, from bit 5 on.
    std::size_t n = 0;
    std::uint8_t length[length_codes];
    std::uint16_t word[length_codes];
    unsigned literals_sent, distances_sent, lengths_sent;
    std::uint64_t bits;
};

inline unsigned length_extra(unsigned symbol) {
    return symbol == repeat_last ? 2 : symbol == few_zeros ? 3 : symbol == many_zeros ? 7 : 0;
}

/// Append a run of words of the same length.
inline void add_run(Header& header, unsigned length, std::size_t run) {
    const auto add = [&header](unsigned symbol, std::size_t extra) {
        header.symbol[header.n++] = static_cast<std::uint16_t>(symbol | extra << 5U);
    };
    if (length != 0 && run > 0) {
        add(length, 0);
        --run;
    }
    while (run >= 3) {
        std::size_t now;
        if (length != 0) {
            now = run < 6 ? run : 6;
            add(repeat_last, now - 3);
        } else if (run < 11) {
            now = run;
            add(few_zeros, now - 3);
        } else {
            now = run < 138 ? run : 138;
            add(many_zeros, now - 11);
        }
        run -= now;
    }
    for (; run > 0; --run) add(length, 0);
}

inline void prepare(const Codes& codes, Header& header) {
    std::uint8_t all[literals + distances];
    unsigned n = last_length + 1, d = distances;
    while (n > first_length && codes.literal_length[n - 1] == 0) --n;
    while (d > 1 && codes.distance_length[d - 1] == 0) --d;
    std::memcpy(all, codes.literal_length, n);
    std::memcpy(all + n, codes.distance_length, d);
    for (std::size_t i = 0, run = 0; i < n + d; i += run) {
        for (run = 1; i + run < n + d && all[i + run] == all[i]; ++run) {
        }
        add_run(header, all[i], run);
    }
    std::uint32_t counts[length_codes] = {};
    for (std::size_t i = 0; i < header.n; ++i) ++counts[header.symbol[i] & 31U];
    lengths_of(counts, length_codes, longest_length_code, header.length);
    words_of(header.length, length_codes, header.word);
    unsigned sent = length_codes;
    while (sent > 4 && header.length[length_code_order[sent - 1]] == 0) --sent;
    header.literals_sent = n;
    header.distances_sent = d;
    header.lengths_sent = sent;
    header.bits = 14 + 3 * sent;
    for (unsigned s = 0; s < length_codes; ++s)
        header.bits += counts[s] * (std::uint64_t{header.length[s]} + length_extra(s));
}

inline void write(BitWriter& out, const Header& header) {
    out.put((header.literals_sent - first_length) | (header.distances_sent - 1) << 5U |
                (header.lengths_sent - 4) << 10U,
            14);
    for (unsigned i = 0; i < header.lengths_sent; ++i) out.put(header.length[length_code_order[i]], 3);
    for (std::size_t i = 0; i < header.n; ++i) {
        const unsigned symbol = header.symbol[i] & 31U, bits = header.length[symbol];
        out.put(header.word[symbol] | (std::uint64_t{header.symbol[i]} >> 5U) << bits,
                bits + length_extra(symbol));
    }
}

/// Write bytes uncompressed, in as many stored blocks as necessary, and at least one.
///
/// \return false if the output buffer is too small.
inline bool write_stored(BitWriter& out, const unsigned char* text, std::size_t n, bool last) {
    do {
        const std::size_t now = n < max_stored ? n : max_stored;
        if (!out.has_room(8 * (now + 5))) return false;
        n -= now;
        out.put((last && n == 0 ? 1U : 0U) | stored_block << 1U, 3);
        out.put(0, out.to_byte(0));
        out.put(now | (now ^ 0xffffU) << 16U, 32);
        out.put_bytes(text, now);
        text += now;
    } while (n > 0);
    return true;
}

template <class Writing>
bool write_fixed(BitWriter& out, const Token* tokens, std::size_t n, std::uint64_t bits, bool last) {
    if (!out.has_room(3 + bits)) return false;
    Words words;
    prepare(fixed_codes(), words);
    out.put((last ? 1U : 0U) | fixed_block << 1U, 3);
    write_tokens<Writing>(out, tokens, n, words);
    return true;
}

/// Write the block as the kind that takes the fewest bits.
template <class Writing>
bool write_best(BitWriter& out, const unsigned char* text, std::size_t bytes, const Token* tokens,
                std::size_t n, bool last) {
    Counts counts;
    count(tokens, n, counts);
    const std::uint64_t fixed = bits_of(counts, fixed_codes());
    const Codes codes = codes_for(counts);
    Header header;
    prepare(codes, header);
    const std::uint64_t dynamic = header.bits + bits_of(counts, codes);
    const std::uint64_t stored = 8 * (bytes + 5 * (bytes / max_stored + 1));
    if (stored < fixed && stored < dynamic) return write_stored(out, text, bytes, last);
    if (fixed <= dynamic) return write_fixed<Writing>(out, tokens, n, fixed, last);
    if (!out.has_room(3 + dynamic)) return false;
    Words words;
    prepare(codes, words);
    out.put((last ? 1U : 0U) | dynamic_block << 1U, 3);
    write(out, header);
    write_tokens<Writing>(out, tokens, n, words);
    return true;
}

} // namespace

} // namespace assay::kernels
