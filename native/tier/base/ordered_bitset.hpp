#pragma once

#include "tier/base/table.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace assay::tier {

/// Set of integers below a fixed bound, with the maximum found in O(log n).
///
/// A tree of 64-bit words: each bit tells whether the word below it is non-zero.
class OrderedBitset {
  public:
    /// \throws std::bad_alloc.
    explicit OrderedBitset(std::size_t count) {
        do {
            count = (count + bits - 1) / bits;
            words_[depth_] = Table<std::uint64_t>(count);
            words_[depth_++].fill(count);
        } while (count > 1);
    }

    void set(std::size_t number) {
        for (std::size_t i = 0; i < depth_; ++i, number /= bits) words_[i][number / bits] |= bit(number);
    }
    void clear(std::size_t number) {
        for (std::size_t i = 0; i < depth_; ++i, number /= bits)
            if ((words_[i][number / bits] &= ~bit(number)) != 0) return;
    }
    [[nodiscard]] bool has(std::size_t number) const { return (words_[0][number / bits] & bit(number)) != 0; }
    [[nodiscard]] std::optional<std::size_t> highest() const {
        if (words_[depth_ - 1][0] == 0) return std::nullopt;
        std::size_t number = 0;
        for (std::size_t i = depth_; i-- > 0;)
            number =
                number * bits + (bits - 1) - static_cast<std::size_t>(std::countl_zero(words_[i][number]));
        return number;
    }
    [[nodiscard]] std::size_t bytes() const { return words_[0].size() * sizeof(std::uint64_t); }

  private:
    static constexpr std::size_t bits = 64;
    [[nodiscard]] static std::uint64_t bit(std::size_t number) { return std::uint64_t{1} << number % bits; }

    std::size_t depth_ = 0;
    std::array<Table<std::uint64_t>, 8> words_ = {
        Table<std::uint64_t>(0), Table<std::uint64_t>(0), Table<std::uint64_t>(0), Table<std::uint64_t>(0),
        Table<std::uint64_t>(0), Table<std::uint64_t>(0), Table<std::uint64_t>(0), Table<std::uint64_t>(0)};
};

} // namespace assay::tier
