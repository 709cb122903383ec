#pragma once

/// Header of a block: its kind, and the lengths of its codes.

#include "kernels/deflate/codec/format.hpp"

#include <cstring>

namespace assay::kernels {

namespace {

/// Lengths of both codes, in the order of transmission.
struct Lengths {
    std::uint8_t of[literals + distances + 2];
    std::size_t literals_sent, distances_sent;
    [[nodiscard]] const std::uint8_t* far() const { return of + literals_sent; }
};

/// Return whether lengths form a complete code.
///
/// \param open true to accept an incomplete code with one word of one bit, or without words.
constexpr bool is_code(const std::uint8_t* lengths, std::size_t n, bool open) {
    std::uint32_t taken = 0, words = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (lengths[i] == 0) continue;
        taken += 1U << (longest_code - lengths[i]);
        ++words;
    }
    constexpr std::uint32_t all = 1U << longest_code;
    return taken == all || (open && (words == 0 || (words == 1 && taken == all / 2)));
}

inline void fixed_lengths(Lengths& found) {
    found.literals_sent = literals;
    found.distances_sent = distances;
    for (std::size_t s = 0; s < literals; ++s) found.of[s] = fixed_length(s);
    std::memset(found.of + literals, fixed_distance_length, distances);
}

/// \tparam Code code of the lengths, with `make(lengths, n)` and `next(bits)`, which returns a symbol, or a
/// number of `n` or more for an invalid word.
/// \return true if both codes are valid, and the first has a word for the end of a block.
template <class Code, class Bits>
bool read_lengths(Bits& bits, Lengths& found) {
    found.literals_sent = bits.take(5) + first_length;
    found.distances_sent = bits.take(5) + 1;
    const unsigned sent = bits.take(4) + 4;
    if (found.literals_sent > last_length + 1 || found.distances_sent > distances) return false;
    std::uint8_t lengths[length_codes] = {};
    for (unsigned i = 0; i < sent; ++i)
        lengths[length_code_order[i]] = static_cast<std::uint8_t>(bits.take(3));
    if (!is_code(lengths, length_codes, false)) return false;
    Code code;
    code.make(lengths, length_codes);
    const std::size_t n = found.literals_sent + found.distances_sent;
    for (std::size_t i = 0; i < n;) {
        const unsigned symbol = code.next(bits);
        if (bits.beyond() || symbol >= length_codes) return false;
        if (symbol < repeat_last) {
            found.of[i++] = static_cast<std::uint8_t>(symbol);
            continue;
        }
        if (symbol == repeat_last && i == 0) return false;
        const std::size_t run = symbol == repeat_last ? 3 + bits.take(2)
                                : symbol == few_zeros ? 3 + bits.take(3)
                                                      : 11 + bits.take(7);
        if (run > n - i) return false;
        std::memset(found.of + i, symbol == repeat_last ? found.of[i - 1] : 0, run);
        i += run;
    }
    return found.of[end_of_block] != 0 && is_code(found.of, found.literals_sent, true) &&
           is_code(found.far(), found.distances_sent, true);
}

} // namespace

} // namespace assay::kernels
