#pragma once

/// With enough input and output left, symbols need no bounds checks, and matches are copied by words.

#include "kernels/deflate/codec/inflate.hpp"

namespace assay::kernels {

namespace {

constexpr std::size_t word = 16; ///< Bytes copied at once.

/// Maximum output of a step: literals of several table entries, a match, and the rest of its last word.
constexpr std::size_t max_written = 8 + longest_match + word;
/// Maximum input of a step: two refills of a word.
constexpr std::size_t max_read = 16;

inline void copy_word(unsigned char* to, const unsigned char* from) {
    unsigned char held[word];
    std::memcpy(held, from, word);
    std::memcpy(to, held, word);
}

/// Copy bytes. It may write up to a word more.
inline void copy_match(unsigned char* to, std::size_t back, std::size_t n) {
    const unsigned char* from = to - back;
    const unsigned char* const end = to + n;
    if (back >= word) {
        do {
            copy_word(to, from);
            to += word;
            from += word;
        } while (to < end);
    } else {
        // The copied bytes double the distance to copy from, until it is as large as a word.
        std::size_t step = back;
        while (step < word / 2 && to < end) {
            store_64(to, load_64(from));
            to += step;
            step *= 2;
        }
        for (; to < end; to += word / 2) store_64(to, load_64(to - step));
    }
}

/// Store two literals in one entry of the table where their words together are short enough.
inline void pair(Literals& by_bits) {
    // From the end: the entry of a pair's second literal has a lower index, and is not yet changed.
    for (std::size_t i = Literals::first; i-- > 0;) {
        const Entry one = by_bits.entry[i];
        if (!(one & is_literal)) continue;
        const unsigned bits = one & taken_mask;
        const Entry other = by_bits.entry[i >> bits];
        if (!(other & is_literal) || bits + (other & taken_mask) > literal_bits) continue;
        const Entry second = (other >> value_shift & 0xffU) << 8U;
        by_bits.entry[i] = (one + (other & taken_mask)) | is_pair | second << value_shift;
    }
}

/// \return number of bytes written by an entry of literals.
template <bool pairs>
std::size_t put(unsigned char* to, Entry entry) {
    if constexpr (pairs) {
        store_16(to, static_cast<std::uint16_t>(entry >> value_shift));
        return entry & is_pair ? 2 : 1;
    }
    *to = static_cast<unsigned char>(entry >> value_shift);
    return 1;
}

/// Input and output positions of a stream.
struct Cursor {
    explicit Cursor(const HeldBits& held, const Output& out)
        : bits(held), to(out.to + out.at), end(out.to + out.room), begin(out.to) {}

    [[nodiscard]] bool has_margin() const {
        return bits.left() >= max_read && static_cast<std::size_t>(end - to) >= max_written;
    }

    void keep(HeldBits& held, Output& out) const {
        held = bits;
        out.at = static_cast<std::size_t>(to - begin);
    }

    HeldBits bits;
    unsigned char* to;
    unsigned char* end;
    unsigned char* begin;
};

/// Decode a few literals, perhaps followed by a match; rare kinds are tested last.
template <bool pairs>
[[gnu::always_inline]] inline NextItem step(Cursor& c, const Literals& by_bits,
                                            const Distances& far_by_bits) {
    c.bits.fill_whole();
    Entry entry = by_bits.begin(c.bits.held());
    // The buffer contains enough bits for three words of the first table, and to determine the kind of a
    // fourth.
    for (int i = 0; i < 3 && entry & is_literal; ++i) {
        c.bits.drop(entry & taken_mask);
        c.to += put<pairs>(c.to, entry);
        entry = by_bits.begin(c.bits.held());
    }
    c.bits.fill_whole();
    if (entry & is_further) entry = by_bits.go_on(entry, c.bits.held());
    if (entry & is_literal) {
        c.bits.drop(entry & taken_mask);
        c.to += put<pairs>(c.to, entry);
        return NextItem::symbols;
    }
    if (entry & (is_end | is_invalid)) {
        c.bits.drop(entry & taken_mask);
        return entry & is_end ? NextItem::end : NextItem::invalid;
    }
    const std::size_t n = value_of(entry, c.bits.held());
    c.bits.drop(entry & taken_mask);
    const Entry far = far_by_bits.of(c.bits.held());
    const std::size_t back = value_of(far, c.bits.held());
    if (far & is_invalid || back > static_cast<std::size_t>(c.to - c.begin)) return NextItem::invalid;
    c.bits.drop(far & taken_mask);
    copy_match(c.to, back, n);
    c.to += n;
    return NextItem::symbols;
}

template <bool pairs>
NextItem fast(HeldBits& bits, const Literals& by_bits, const Distances& far_by_bits, Output& out) {
    Cursor cursor(bits, out);
    NextItem met = NextItem::symbols;
    while (met == NextItem::symbols)
        met = cursor.has_margin() ? step<pairs>(cursor, by_bits, far_by_bits) : NextItem::margin;
    cursor.keep(bits, out);
    return met;
}

template <bool pairs>
struct Fast {
    static void prepare(Literals& by_bits) {
        if constexpr (pairs) pair(by_bits);
    }

    static NextItem decode(HeldBits& bits, const Literals& by_bits, const Distances& far_by_bits,
                           Output& out) {
        const NextItem met = fast<pairs>(bits, by_bits, far_by_bits, out);
        return met == NextItem::margin ? careful(bits, by_bits, far_by_bits, out) : met;
    }
};

} // namespace

} // namespace assay::kernels
