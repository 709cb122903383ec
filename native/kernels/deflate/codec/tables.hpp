#pragma once

/// Tables indexed by the next bits of a stream, and a reader of whole words.

#include "kernels/deflate/codec/header.hpp"
#include "kernels/deflate/codec/memory.hpp"
#include "kernels/deflate/codec/work.hpp"

namespace assay::kernels {

namespace {

/// Reader of bits by whole words. Beyond the end, bits are zero.
class HeldBits {
  public:
    HeldBits(const unsigned char* from, std::size_t n) : next_(from), end_(from + n) {}

    /// Refill the buffer to at least 56 bits.
    void fill() {
        if (end_ - next_ >= 8)
            fill_whole();
        else
            fill_bytes();
    }

    /// Refill without a bounds check, when at least eight bytes are left.
    void fill_whole() {
        held_ |= load_64(next_) << count_;
        next_ += (63U - count_) >> 3U;
        count_ |= 56U;
    }

    [[nodiscard]] std::uint64_t held() const { return held_; }
    [[nodiscard]] unsigned count() const { return count_; }
    [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - next_); }

    void drop(unsigned n) {
        held_ >>= n;
        count_ -= n;
    }

    /// Refill, and read at most 32 bits.
    unsigned take(unsigned n) {
        fill();
        const auto found = static_cast<unsigned>(held_ & ((std::uint64_t{1} << n) - 1));
        drop(n);
        return found;
    }

    [[nodiscard]] bool beyond() const { return zeros_ > count_; }

    const unsigned char* bytes(std::size_t n) {
        drop(count_ & 7U);
        if (beyond()) return nullptr;
        // Whole buffered bytes belong to the following bytes.
        next_ -= (count_ - zeros_) / 8;
        held_ = 0;
        count_ = zeros_ = 0;
        if (n > left()) return nullptr;
        const unsigned char* const found = next_;
        next_ += n;
        return found;
    }

  private:
    void fill_bytes() {
        while (count_ < 56) {
            if (next_ < end_)
                held_ |= std::uint64_t{*next_++} << count_;
            else
                zeros_ += 8;
            count_ += 8;
        }
    }

    const unsigned char* next_;
    const unsigned char* end_;
    std::uint64_t held_ = 0; ///< Bits above the first `count_` may be set already.
    unsigned count_ = 0;
    unsigned zeros_ = 0; ///< Number of buffered bits beyond the end of the stream.
};

/// Table entry for the next bits: number of consumed bits, number of bits of the word alone, kind, and one or
/// two bytes or the base of an interval.
using Entry = std::uint32_t;

constexpr unsigned taken_mask = 63; ///< Number of bits of the word, including extra bits.
constexpr unsigned word_shift = 6;  ///< Number of bits of the word, without extra bits; a field of four bits.
constexpr unsigned value_shift = 16; ///< A byte, a base, or the position of a second table.
constexpr Entry is_literal = 1U << 10U;
constexpr Entry is_pair = 1U << 11U;    ///< Two literals.
constexpr Entry is_further = 1U << 12U; ///< Continued in a second table.
constexpr Entry is_end = 1U << 13U;     ///< The end of a block.
constexpr Entry is_invalid = 1U << 14U; ///< Invalid word.

inline Entry literal_entry(unsigned symbol) {
    if (symbol < end_of_block) return is_literal | symbol << value_shift;
    if (symbol == end_of_block) return is_end;
    if (symbol > last_length) return is_invalid;
    const Interval& of = lengths_by_symbol[symbol - first_length];
    return of.extra | Entry{of.base} << value_shift;
}

inline Entry distance_entry(unsigned symbol) {
    if (symbol >= distances) return is_invalid;
    const Interval& of = distances_by_symbol[symbol];
    return of.extra | Entry{of.base} << value_shift;
}

inline Entry plain_entry(unsigned symbol) {
    return symbol << value_shift;
}

/// Words of up to `bits` bits are found at once, and longer ones in a second table, selected by their first
/// bits. If the code is complete, each second table contains at least two words.
template <std::size_t symbols, unsigned bits, unsigned longest>
struct Table {
    static constexpr unsigned beyond_bits = longest - bits;
    static constexpr std::size_t first = std::size_t{1} << bits;
    static constexpr std::size_t second = std::size_t{1} << beyond_bits;
    Entry entry[first + (beyond_bits ? symbols / 2 * second : 0)];

    template <Entry (*entry_of)(unsigned)>
    void fill(const std::uint8_t* lengths, std::size_t n);

    /// Return the entry of the first table, which may refer to a second one.
    [[nodiscard]] Entry begin(std::uint64_t held) const { return entry[held & (first - 1)]; }

    [[nodiscard]] Entry go_on(Entry found, std::uint64_t held) const {
        return entry[(found >> value_shift) + (held >> bits & (second - 1))];
    }

    [[nodiscard]] Entry of(std::uint64_t held) const {
        const Entry found = begin(held);
        if constexpr (beyond_bits == 0) return found;
        return found & is_further ? go_on(found, held) : found;
    }

  private:
    /// \return position of the second table for words that begin with these bits.
    std::size_t further(std::size_t low, std::size_t& end) {
        if (!(entry[low] & is_further)) {
            for (std::size_t i = 0; i < second; ++i) entry[end + i] = is_invalid;
            entry[low] = is_further | static_cast<Entry>(end) << value_shift;
            end += second;
        }
        return entry[low] >> value_shift;
    }
};

/// Fill the tables. The first one is doubled for each bit, since the entries of shorter words apply to all
/// values of the following bits.
template <std::size_t symbols, unsigned bits, unsigned longest>
template <Entry (*entry_of)(unsigned)>
void Table<symbols, bits, longest>::fill(const std::uint8_t* lengths, std::size_t n) {
    Canonical code = canonical(lengths, n);
    std::uint16_t sorted[symbols];
    std::uint32_t place[longest_code + 2] = {};
    for (unsigned length = 1; length <= longest; ++length)
        place[length + 1] = place[length] + code.count[length];
    for (std::size_t s = 0; s < n; ++s)
        if (lengths[s]) sorted[place[lengths[s]]++] = static_cast<std::uint16_t>(s);
    std::size_t next = 0, end = first;
    entry[0] = is_invalid;
    for (unsigned length = 1; length <= longest; ++length) {
        if (length <= bits)
            std::memcpy(entry + (first >> (bits - length + 1)), entry,
                        (first >> (bits - length + 1)) * sizeof *entry);
        for (std::uint32_t k = 0; k < code.count[length]; ++k) {
            const std::uint32_t word = reversed(code.first[length] + k, length);
            const Entry found = entry_of(sorted[next++]) + (length | length << word_shift);
            if (length <= bits) {
                entry[word] = found;
            } else if constexpr (beyond_bits > 0) {
                const std::size_t begin = further(word & (first - 1), end);
                for (std::size_t i = word >> bits; i < second; i += std::size_t{1} << (length - bits))
                    entry[begin + i] = found;
            }
        }
    }
}

/// Return the base of an interval plus its extra bits, which follow the bits of the word.
inline std::size_t value_of(Entry entry, std::uint64_t held) {
    const std::uint64_t taken = held & ((std::uint64_t{1} << (entry & taken_mask)) - 1);
    return (entry >> value_shift) + static_cast<std::size_t>(taken >> (entry >> word_shift & 15U));
}

/// The code of lengths, for `read_lengths`.
class LengthTable {
  public:
    void make(const std::uint8_t* lengths, std::size_t n) { table_.fill<plain_entry>(lengths, n); }

    unsigned next(HeldBits& bits) const {
        bits.fill();
        const Entry found = table_.of(bits.held());
        bits.drop(found & taken_mask);
        return found >> value_shift;
    }

  private:
    Table<length_codes, longest_length_code, longest_length_code> table_;
};

} // namespace

} // namespace assay::kernels
