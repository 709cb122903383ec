#pragma once

/// The format of deflate: RFC 1951.

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

namespace {

constexpr std::size_t longest_match = 258;
constexpr unsigned shortest_match = 3;
constexpr std::size_t window = 32768; ///< No match begins further back.
constexpr std::size_t max_stored = 65535;

constexpr std::size_t literals = 288; ///< Number of symbols of literals, the end of a block, and lengths.
constexpr std::size_t distances = 30;
constexpr unsigned end_of_block = 256;
constexpr unsigned first_length = 257;
constexpr unsigned last_length = 285;
constexpr unsigned longest_code = 15;

enum BlockKind : unsigned { stored_block = 0, fixed_block = 1, dynamic_block = 2 };

struct Interval {
    std::uint16_t base;
    std::uint8_t extra; ///< Extra bits to add to the base.
};

constexpr Interval lengths_by_symbol[last_length - first_length + 1] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};

constexpr Interval distances_by_symbol[distances] = {
    {1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},     {9, 2},     {13, 2},
    {17, 3},    {25, 3},    {33, 4},    {49, 4},     {65, 5},     {97, 5},    {129, 6},   {193, 6},
    {257, 7},   {385, 7},   {513, 8},   {769, 8},    {1025, 9},   {1537, 9},  {2049, 10}, {3073, 10},
    {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};

// The code with which the lengths of the codes are sent.
constexpr std::size_t length_codes = 19;
constexpr unsigned longest_length_code = 7;
constexpr std::uint8_t length_code_order[length_codes] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                          11, 4,  12, 3, 13, 2, 14, 1, 15};
constexpr unsigned repeat_last = 16;
constexpr unsigned few_zeros = 17;
constexpr unsigned many_zeros = 18;

/// Return the length of a symbol's word in the fixed code of literals and lengths.
constexpr std::uint8_t fixed_length(std::size_t symbol) {
    return symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
}
constexpr std::uint8_t fixed_distance_length = 5;

/// Reverse the bits of a code's word: words are sent from the highest bit, everything else from the lowest.
constexpr std::uint32_t reversed(std::uint32_t code, unsigned bits) {
    code = (code & 0x5555U) << 1U | (code >> 1U & 0x5555U);
    code = (code & 0x3333U) << 2U | (code >> 2U & 0x3333U);
    code = (code & 0x0f0fU) << 4U | (code >> 4U & 0x0f0fU);
    code = (code & 0x00ffU) << 8U | (code >> 8U & 0x00ffU);
    return code >> (16U - bits);
}

/// Number of words of each length, and the first word of that length.
struct Canonical {
    std::uint32_t count[longest_code + 1];
    std::uint32_t first[longest_code + 1];
};

constexpr Canonical canonical(const std::uint8_t* lengths, std::size_t n) {
    Canonical found{};
    for (std::size_t i = 0; i < n; ++i) ++found.count[lengths[i]];
    found.count[0] = 0;
    for (unsigned length = 1; length <= longest_code; ++length)
        found.first[length] = (found.first[length - 1] + found.count[length - 1]) << 1U;
    return found;
}

} // namespace

} // namespace assay::kernels
