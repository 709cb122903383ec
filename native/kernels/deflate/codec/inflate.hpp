#pragma once

/// Inflation with tables.

#include "kernels/deflate/codec/tables.hpp"

namespace assay::kernels {

namespace {

constexpr unsigned literal_bits = 11; ///< Number of bits that the first table decodes; longer words are rare.
constexpr unsigned distance_bits = 8;

using Literals = Table<literals, literal_bits, longest_code>;
using Distances = Table<distances, distance_bits, longest_code>;

/// A chunk being written, and the current position.
struct Output {
    unsigned char* to;
    std::size_t room;
    std::size_t at;
};

/// Next item of a stream: symbols of a block, the end of a block or of the stream, invalid bits, or too
/// little room for loops without bounds checks.
enum class NextItem { symbols, end, invalid, margin };

/// Copy byte by byte, since a match may overlap its own output.
inline void copy_bytes(unsigned char* to, std::size_t back, std::size_t n) {
    const unsigned char* const from = to - back;
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}

/// Decode one symbol after another, with bounds checks.
inline NextItem careful(HeldBits& bits, const Literals& by_bits, const Distances& far_by_bits, Output& out) {
    for (;;) {
        bits.fill();
        const Entry entry = by_bits.of(bits.held());
        if (entry & (is_end | is_invalid)) {
            bits.drop(entry & taken_mask);
            return entry & is_end && !bits.beyond() ? NextItem::end : NextItem::invalid;
        }
        if (entry & is_literal) {
            if (out.at == out.room || bits.beyond()) return NextItem::invalid;
            bits.drop(entry >> word_shift & 15U);
            out.to[out.at++] = static_cast<unsigned char>(entry >> value_shift);
            continue;
        }
        const std::size_t n = value_of(entry, bits.held());
        bits.drop(entry & taken_mask);
        const Entry far = far_by_bits.of(bits.held());
        if (far & is_invalid) return NextItem::invalid;
        const std::size_t back = value_of(far, bits.held());
        bits.drop(far & taken_mask);
        if (bits.beyond() || back > out.at || n > out.room - out.at) return NextItem::invalid;
        copy_bytes(out.to + out.at, back, n);
        out.at += n;
    }
}

/// Decoder of one symbol at a time.
struct Careful {
    static void prepare(Literals&) {}
    static NextItem decode(HeldBits& bits, const Literals& by_bits, const Distances& far_by_bits,
                           Output& out) {
        return careful(bits, by_bits, far_by_bits, out);
    }
};

inline bool inflate_stored(HeldBits& bits, Output& out) {
    const unsigned char* const head = bits.bytes(4);
    if (!head) return false;
    const std::uint32_t sizes = load_32(head), n = sizes & 0xffffU;
    const unsigned char* const stored = bits.bytes(n);
    if ((n ^ sizes >> 16U) != 0xffffU || !stored || n > out.room - out.at) return false;
    if (n) std::memcpy(out.to + out.at, stored, n);
    out.at += n;
    return true;
}

/// A stream being inflated.
struct Inflation {
    explicit Inflation(const Chunk& chunk) : bits(chunk.from, chunk.bytes), out{chunk.to, chunk.room, 0} {}

    HeldBits bits;
    Output out;
    bool last = false; ///< True in the last block.
    Literals by_bits;
    Distances far_by_bits;
};

/// Advance to the next block of symbols, and copy stored blocks before it.
///
/// \tparam Loop decoder of the symbols of a block.
template <class Loop>
NextItem open(Inflation& s) {
    while (!s.last) {
        const unsigned head = s.bits.take(3);
        s.last = head & 1U;
        if (s.bits.beyond() || head >> 1U > dynamic_block) return NextItem::invalid;
        if (head >> 1U == stored_block) {
            if (!inflate_stored(s.bits, s.out)) return NextItem::invalid;
            continue;
        }
        Lengths lengths;
        if (head >> 1U == fixed_block)
            fixed_lengths(lengths);
        else if (!read_lengths<LengthTable>(s.bits, lengths))
            return NextItem::invalid;
        s.by_bits.fill<literal_entry>(lengths.of, lengths.literals_sent);
        s.far_by_bits.fill<distance_entry>(lengths.far(), lengths.distances_sent);
        Loop::prepare(s.by_bits);
        return NextItem::symbols;
    }
    return NextItem::end;
}

/// \param met next item of the stream. \return number of bytes, or `failed` if the stream is invalid or its
/// text does not fit the output buffer.
template <class Loop>
std::size_t finish(Inflation& s, NextItem met) {
    while (met == NextItem::symbols) {
        met = Loop::decode(s.bits, s.by_bits, s.far_by_bits, s.out);
        if (met == NextItem::end) met = open<Loop>(s);
    }
    return met == NextItem::end ? s.out.at : failed;
}

template <class Loop>
std::size_t inflate(const Chunk& chunk, unsigned char*) {
    Inflation stream(chunk);
    const NextItem met = open<Loop>(stream);
    return finish<Loop>(stream, met);
}

} // namespace

} // namespace assay::kernels
