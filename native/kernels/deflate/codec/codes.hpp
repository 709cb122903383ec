#pragma once

/// Prefix codes with the fewest bits for counted symbols (Huffman 1952), limited to the length that the
/// format allows.

#include "kernels/deflate/codec/format.hpp"

namespace assay::kernels {

namespace {

/// Symbols that occur, from the rarest to the most frequent.
struct Ranking {
    std::uint16_t symbol[literals];
    std::uint32_t count[literals];
    std::size_t n;
};

/// Sort symbols by their counts: a radix sort in two passes, in which counts beyond the range of two digits
/// are equal.
inline void rank(const std::uint32_t* counts, std::size_t n, Ranking& found) {
    constexpr std::uint32_t max_count = 0xffff, digit = 0xff;
    std::uint16_t by_low[literals];
    std::uint16_t low[digit + 2] = {}, high[digit + 2] = {};
    found.n = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t count = counts[i] < max_count ? counts[i] : max_count;
        if (count == 0) continue;
        ++low[(count & digit) + 1];
        ++high[(count >> 8U) + 1];
        ++found.n;
    }
    for (std::size_t i = 1; i <= digit; ++i) {
        low[i] = static_cast<std::uint16_t>(low[i] + low[i - 1]);
        high[i] = static_cast<std::uint16_t>(high[i] + high[i - 1]);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t count = counts[i] < max_count ? counts[i] : max_count;
        if (count) by_low[low[count & digit]++] = static_cast<std::uint16_t>(i);
    }
    for (std::size_t i = 0; i < found.n; ++i) {
        const std::uint32_t count = counts[by_low[i]] < max_count ? counts[by_low[i]] : max_count;
        const std::size_t place = high[count >> 8U]++;
        found.symbol[place] = by_low[i];
        found.count[place] = count;
    }
}

/// Convert ascending counts to the depths of their leaves, in place (Moffat and Katajainen, In-place
/// calculation of minimum-redundancy codes, 1995): weights, then parents, then depths.
inline void depths(std::uint32_t* a, std::size_t n) {
    std::size_t leaf = 0, inner = 0;
    for (std::size_t next = 0; next + 1 < n; ++next) {
        std::uint32_t sum = 0;
        for (int side = 0; side < 2; ++side) {
            if (leaf >= n || (inner < next && a[inner] < a[leaf])) {
                sum += a[inner];
                a[inner++] = static_cast<std::uint32_t>(next);
            } else {
                sum += a[leaf++];
            }
        }
        a[next] = sum;
    }
    a[n - 2] = 0;
    for (std::size_t i = n - 2; i-- > 0;) a[i] = a[a[i]] + 1;
    std::size_t open = 1, root = n - 1, place = n;
    for (std::uint32_t depth = 0; open > 0; ++depth) {
        std::size_t used = 0;
        while (root > 0 && a[root - 1] == depth) {
            ++used;
            --root;
        }
        for (std::size_t i = used; i < open; ++i) a[--place] = depth;
        open = 2 * used;
    }
}

/// Count the words of each length, none longer than `longest`. If shortening used too much of the code space,
/// a shorter word is replaced by two words that are longer by one bit.
inline void limit(const std::uint32_t* depth, std::size_t n, unsigned longest, std::uint32_t* of_length) {
    for (std::size_t i = 0; i < n; ++i) ++of_length[depth[i] < longest ? depth[i] : longest];
    std::uint64_t taken = 0;
    for (unsigned length = 1; length <= longest; ++length)
        taken += std::uint64_t{of_length[length]} << (longest - length);
    for (; taken > std::uint64_t{1} << longest; --taken) {
        unsigned length = longest - 1;
        while (of_length[length] == 0) --length;
        --of_length[length];
        of_length[length + 1] += 2;
        --of_length[longest];
    }
}

/// Compute the lengths of a code's words; 0 for symbols that do not occur. There are at least two words: some
/// decoders reject codes of one word.
inline void lengths_of(std::uint32_t* counts, std::size_t n, unsigned longest, std::uint8_t* lengths) {
    Ranking found;
    rank(counts, n, found);
    for (std::size_t i = 0; found.n < 2; ++i) {
        if (counts[i]) continue;
        counts[i] = 1;
        rank(counts, n, found);
    }
    depths(found.count, found.n);
    std::uint32_t of_length[longest_code + 1] = {};
    limit(found.count, found.n, longest, of_length);
    for (std::size_t i = 0; i < n; ++i) lengths[i] = 0;
    std::size_t i = 0;
    for (unsigned length = longest; length > 0; --length)
        for (std::uint32_t k = 0; k < of_length[length]; ++k)
            lengths[found.symbol[i++]] = static_cast<std::uint8_t>(length);
}

/// Compute the words of a code, in the bit order of the stream.
inline void words_of(const std::uint8_t* lengths, std::size_t n, std::uint16_t* words) {
    Canonical next = canonical(lengths, n);
    for (std::size_t i = 0; i < n; ++i)
        words[i] =
            static_cast<std::uint16_t>(lengths[i] ? reversed(next.first[lengths[i]]++, lengths[i]) : 0);
}

} // namespace

} // namespace assay::kernels
