#pragma once

/// Bits of a stream, written by whole words.

#include "kernels/deflate/codec/memory.hpp"
#include "kernels/deflate/codec/work.hpp"

namespace assay::kernels {

namespace {

/// Stores whole words, also if only some of their bytes count: the buffer needs eight bytes beyond the last.
class BitWriter {
  public:
    BitWriter(unsigned char* to, std::size_t room) : begin_(to), next_(to), end_(to + room) {}

    /// Appends at most 56 bits.
    void put(std::uint64_t bits, unsigned count) {
        held_ |= bits << count_;
        count_ += count;
        store_64(next_, held_);
        next_ += count_ >> 3U;
        held_ >>= count_ & ~7U;
        count_ &= 7U;
    }

    /// Returns whether there is room for a number of bits and another word.
    [[nodiscard]] bool has_room(std::uint64_t bits) const {
        return bits / 8 + 2 * sizeof held_ <= static_cast<std::size_t>(end_ - next_);
    }

    /// Returns the number of padding bits until the next byte begins, after a number of other bits.
    [[nodiscard]] unsigned to_byte(unsigned others) const { return -(count_ + others) & 7U; }

    void put_bytes(const unsigned char* from, std::size_t n) {
        std::memcpy(next_, from, n);
        next_ += n;
    }

    /// \return size of the stream in bytes.
    std::size_t finish() {
        if (count_) ++next_;
        return static_cast<std::size_t>(next_ - begin_);
    }

  private:
    unsigned char* begin_;
    unsigned char* next_;
    unsigned char* end_;
    std::uint64_t held_ = 0;
    unsigned count_ = 0; ///< Number of buffered bits that are not yet final; fewer than eight.
};

} // namespace

} // namespace assay::kernels
