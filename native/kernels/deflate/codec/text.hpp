#pragma once

/// Generated text, the same each time: words with the frequencies of a natural language, some of which
/// determine the next word.

#include "kernels/frame/pattern.hpp"

#include <cmath>
#include <string_view>
#include <vector>

namespace assay::kernels {

/// Number of bytes after which text repeats: the window is far shorter, so that the repetition causes no
/// matches.
inline constexpr std::size_t text_period = (std::size_t{1} << 20U) + 4099;

namespace text {

inline constexpr std::array<std::string_view, 64> frequent = {
    "the",  "of",    "and",   "to",  "in",   "a",    "is",    "that", "for",  "it",    "as",
    "was",  "with",  "be",    "by",  "on",   "not",  "he",    "this", "are",  "or",    "his",
    "from", "at",    "which", "but", "have", "an",   "had",   "they", "you",  "were",  "their",
    "one",  "all",   "we",    "can", "her",  "has",  "there", "been", "if",   "more",  "when",
    "will", "would", "who",   "so",  "no",   "she",  "other", "its",  "may",  "these", "what",
    "them", "than",  "some",  "him", "time", "into", "only",  "such", "could"};

inline constexpr std::array<std::string_view, 24> onsets = {"",   "b",  "c",  "d",  "f",  "g",  "h",  "l",
                                                            "m",  "n",  "p",  "r",  "s",  "t",  "v",  "w",
                                                            "st", "tr", "pr", "ch", "th", "sh", "pl", "cr"};
inline constexpr std::array<std::string_view, 12> nuclei = {"a", "e", "i", "o",  "u",  "e",
                                                            "a", "i", "o", "ea", "ou", "io"};
inline constexpr std::array<std::string_view, 16> codas = {"", "",  "n",  "r",  "s",  "t",  "l",  "d",
                                                           "", "m", "nd", "st", "ng", "ck", "ss", "nt"};

inline constexpr std::size_t vocabulary = 8192;

/// Make a word from its rank: frequent words are shorter.
inline std::string word_of(std::size_t rank) {
    if (rank < frequent.size()) return std::string(frequent[rank]);
    std::uint64_t chance = mixed(rank);
    std::size_t syllables = chance % 4 == 0 ? 2 : 1;
    if (rank > 300) ++syllables;
    if (rank > 3000 && chance % 8 > 3) ++syllables;
    std::string word;
    for (std::size_t s = 0; s < syllables; ++s) {
        chance = mixed(chance);
        word += onsets[chance % onsets.size()];
        word += nuclei[chance / 32 % nuclei.size()];
        word += codas[chance / 1024 % codas.size()];
    }
    return word;
}

/// Draw a rank by Zipf's law: the probability of the first r words grows as the logarithm of r.
inline std::size_t rank_by(std::uint64_t chance) {
    const double part = static_cast<double>(chance >> 11U) * 0x1p-53;
    return static_cast<std::size_t>(std::pow(static_cast<double>(vocabulary), part)) - 1;
}

} // namespace text

/// Generate one period of the text.
inline std::string make_text() {
    std::vector<std::string> words;
    for (std::size_t r = 0; r < text::vocabulary; ++r) words.push_back(text::word_of(r));
    std::string made;
    std::size_t rank = 0, in_sentence = 0;
    for (std::uint64_t i = 0; made.size() < text_period; ++i) {
        const std::uint64_t chance = mixed(i);
        // Every second word is one of a few that often follow the previous word.
        const bool follows = chance % 2 == 0;
        rank = text::rank_by(follows ? mixed(rank * 8 + chance / 2 % 4) : mixed(chance));
        std::string word = words[rank];
        if (in_sentence == 0) word[0] = static_cast<char>(word[0] - 'a' + 'A');
        made += word;
        ++in_sentence;
        const std::uint64_t ends = chance >> 32U;
        if (in_sentence > 5 && ends % 12 == 0) {
            made += ends / 12 % 5 ? ". " : ".\n";
            in_sentence = 0;
        } else {
            made += ends % 12 == 1 ? ", " : " ";
        }
    }
    made.resize(text_period);
    return made;
}

} // namespace assay::kernels
