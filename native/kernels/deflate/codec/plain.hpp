#pragma once

/// Inflates a bit at a time, byte by byte: the reference for the other variants.

#include "kernels/deflate/codec/header.hpp"
#include "kernels/deflate/codec/work.hpp"

namespace assay::kernels {

namespace {

/// Reader of single bits, from the lowest bit of each byte. Beyond the end, bits are zero.
class SingleBits {
  public:
    SingleBits(const unsigned char* from, std::size_t n) : from_(from), bits_(8 * n) {}

    unsigned take(unsigned n) {
        unsigned found = 0;
        for (unsigned i = 0; i < n; ++i, ++at_)
            if (at_ < bits_) found |= (unsigned{from_[at_ / 8]} >> at_ % 8 & 1U) << i;
        return found;
    }

    /// Return whether bits beyond the end were read.
    [[nodiscard]] bool beyond() const { return at_ > bits_; }

    /// Skip the rest of a byte, and return the following `n` bytes, or null if there are fewer.
    const unsigned char* bytes(std::size_t n) {
        const std::size_t begin = (at_ + 7) / 8;
        if (begin > bits_ / 8 || n > bits_ / 8 - begin) return nullptr;
        at_ = 8 * (begin + n);
        return from_ + begin;
    }

  private:
    const unsigned char* from_;
    std::size_t bits_;
    std::size_t at_ = 0;
};

/// Words of the same length have consecutive numbers. A word is read bit by bit, until its number is in the
/// range of its length.
class PlainCode {
  public:
    void make(const std::uint8_t* lengths, std::size_t n) {
        code_ = canonical(lengths, n);
        std::size_t place = 0;
        for (unsigned length = 1; length <= longest_code; ++length)
            for (std::size_t s = 0; s < n; ++s)
                if (lengths[s] == length) symbol_[place++] = static_cast<std::uint16_t>(s);
    }

    template <class Bits>
    unsigned next(Bits& bits) const {
        std::uint32_t word = 0;
        std::size_t before = 0;
        for (unsigned length = 1; length <= longest_code; ++length) {
            word = word << 1U | bits.take(1);
            const std::uint32_t place = word - code_.first[length];
            if (word >= code_.first[length] && place < code_.count[length]) return symbol_[before + place];
            before += code_.count[length];
        }
        return literals;
    }

  private:
    Canonical code_{};
    std::uint16_t symbol_[literals];
};

inline bool inflate_block(SingleBits& bits, const PlainCode& literal, const PlainCode& distance,
                          unsigned char* to, std::size_t room, std::size_t& at) {
    for (;;) {
        const unsigned symbol = literal.next(bits);
        if (bits.beyond() || symbol > last_length) return false;
        if (symbol == end_of_block) return true;
        if (symbol < end_of_block) {
            if (at == room) return false;
            to[at++] = static_cast<unsigned char>(symbol);
            continue;
        }
        const Interval& length = lengths_by_symbol[symbol - first_length];
        const std::size_t n = length.base + bits.take(length.extra);
        const unsigned far = distance.next(bits);
        if (far >= distances) return false;
        const std::size_t back = distances_by_symbol[far].base + bits.take(distances_by_symbol[far].extra);
        if (bits.beyond() || back > at || n > room - at) return false;
        for (std::size_t i = 0; i < n; ++i, ++at) to[at] = to[at - back];
    }
}

/// \return number of bytes, or `failed` if the stream is invalid or its text does not fit the output buffer.
inline std::size_t inflate_plain(const Chunk& chunk, unsigned char*) {
    SingleBits bits(chunk.from, chunk.bytes);
    std::size_t at = 0;
    for (bool last = false; !last;) {
        last = bits.take(1);
        const unsigned kind = bits.take(2);
        if (bits.beyond() || kind > dynamic_block) return failed;
        if (kind == stored_block) {
            const unsigned char* const head = bits.bytes(4);
            if (!head) return failed;
            const unsigned n = head[0] | unsigned{head[1]} << 8U;
            const unsigned inverse = head[2] | unsigned{head[3]} << 8U;
            const unsigned char* const stored = bits.bytes(n);
            if ((n ^ inverse) != 0xffff || !stored || n > chunk.room - at) return failed;
            if (n) std::memcpy(chunk.to + at, stored, n);
            at += n;
            continue;
        }
        Lengths lengths;
        if (kind == fixed_block)
            fixed_lengths(lengths);
        else if (!read_lengths<PlainCode>(bits, lengths))
            return failed;
        PlainCode literal, distance;
        literal.make(lengths.of, lengths.literals_sent);
        distance.make(lengths.far(), lengths.distances_sent);
        if (!inflate_block(bits, literal, distance, chunk.to, chunk.room, at)) return failed;
    }
    return at;
}

} // namespace

} // namespace assay::kernels
