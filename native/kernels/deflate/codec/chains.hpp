#pragma once

/// Use the longest of several matches, and a literal instead if a longer match begins at the next byte.

#include "kernels/deflate/codec/greedy.hpp"

namespace assay::kernels {

namespace {

struct Match {
    std::size_t length, distance;
};

/// Maximum distance of a match of three bytes: at a larger distance, it takes at least as many bits as three
/// literals.
constexpr std::size_t max_distance_of_three = 4096;

inline std::uint32_t hash_3(std::uint32_t word) {
    return hash_of(word << 8U, hash_3_bits);
}

/// Positions with the same hash are linked, each to the previous one.
template <unsigned depth, std::size_t enough>
struct Chains {
    static void begin(Scratch& scratch) {
        clear(scratch.head, 1U << hash_bits);
        clear(scratch.head_3, 1U << hash_3_bits);
    }

    /// \return the previous position with the same hash.
    static Place insert(Scratch& s, const unsigned char* bytes, std::size_t at) {
        Place& place = s.head[hash_of(load_32(bytes + at), hash_bits)];
        const Place before = place;
        s.before[at % window] = before;
        place = static_cast<Place>(at);
        return before;
    }

    /// Return the longest match at a position if it is longer than `min_length`, and {0, 0} otherwise.
    static Match find(Scratch& s, const Text& text, std::size_t at, std::size_t min_length,
                      unsigned patience) {
        const unsigned char* const here = text.bytes + at;
        const std::size_t max_length = minimum(text.n - at, longest_match);
        Match best{0, 0};
        if (max_length < hashed) return best;
        std::size_t longest = min_length;
        const std::uint32_t word = load_32(here);
        Place& third = s.head_3[hash_3(word)];
        const std::size_t close = back(at, third);
        third = static_cast<Place>(at);
        Place place = insert(s, text.bytes, at);
        if (longest < 3 && close - 1 < max_distance_of_three && (load_32(here - close) ^ word) << 8U == 0) {
            best = {3, close};
            longest = 3;
        }
        if (longest >= max_length) return best;
        std::size_t last = 0;
        for (unsigned tried = 0; tried < patience; ++tried) {
            const std::size_t distance = back(at, place);
            if (distance <= last || distance > window) break;
            last = distance;
            const unsigned char* const there = here - distance;
            place = s.before[(at - distance) % window];
            if (there[longest] != here[longest] || load_32(there) != word) continue;
            const std::size_t length = same(here, there, hashed, max_length);
            if (length <= longest) continue;
            best = {length, distance};
            longest = length;
            if (length >= enough || length == max_length) break;
        }
        return best;
    }

    static void skip(Scratch& s, const Text& text, std::size_t from, std::size_t to) {
        for (std::size_t at = from; at < to && at + hashed <= text.n; ++at) {
            s.head_3[hash_3(load_32(text.bytes + at))] = static_cast<Place>(at);
            insert(s, text.bytes, at);
        }
    }

    static Token* tokens(Scratch& s, Text& text, std::size_t end) {
        Token* token = s.tokens;
        Match now{0, 0};
        bool known = false;
        while (text.at < end) {
            if (!known) now = find(s, text, text.at, 0, depth);
            known = false;
            if (now.length == 0) {
                *token++ = literal(text.bytes[text.at++]);
                continue;
            }
            std::size_t indexed = 1;
            if (now.length < enough && text.at + 1 < end) {
                // Half as many candidates: with a match at hand, there is less to gain from a longer one.
                const Match next = find(s, text, text.at + 1, now.length, depth / 2);
                if (next.length > now.length) {
                    *token++ = literal(text.bytes[text.at++]);
                    now = next;
                    known = true;
                    continue;
                }
                indexed = 2;
            }
            *token++ = match(now.length, now.distance);
            skip(s, text, text.at + indexed, text.at + now.length);
            text.at += now.length;
        }
        return token;
    }
};

} // namespace

} // namespace assay::kernels
