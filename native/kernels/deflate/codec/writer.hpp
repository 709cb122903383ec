#pragma once

/// Writer of a stream by whole words.

#include "kernels/deflate/codec/memory.hpp"
#include "kernels/deflate/codec/work.hpp"

namespace assay::kernels {

namespace {

/// Stores whole words even if only some of their bytes belong to the stream, so the buffer needs eight more
/// bytes.
class BitWriter {
  public:
    BitWriter(unsigned char* to, std::size_t room) : begin_(to), next_(to), end_(to + room) {}

    /// Append at most 56 bits.
    void put(std::uint64_t bits, unsigned count) {
        held_ |= bits << count_;
        count_ += count;
        store_64(next_, held_);
        next_ += count_ >> 3U;
        held_ >>= count_ & ~7U;
        count_ &= 7U;
    }

    /// Return whether there is room for a number of bits and another word.
    [[nodiscard]] bool has_room(std::uint64_t bits) const {
        return bits / 8 + 2 * sizeof held_ <= static_cast<std::size_t>(end_ - next_);
    }

    /// Return the number of padding bits from the end of `others` more bits to the next byte.
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
    unsigned count_ = 0; ///< Number of buffered bits that do not fill a byte yet; fewer than eight.
};

} // namespace

} // namespace assay::kernels
