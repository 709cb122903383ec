#pragma once

/// Local to each file that includes it: see hash/lanes.hpp.

#include "kernels/hash-queue/lanes.hpp"
#include "kernels/hash-queue/libraries.hpp"

namespace {

/// Hashes chunks in lanes, or one after another by a library that uses the processor's hash instructions:
/// whichever was faster so far. The minimum time of each way counts, since other processes can only increase
/// it. Both ways are repeated from time to time, since the first call of a library takes longer than later
/// ones.
template <class Lanes>
class Mixed {
  public:
    [[nodiscard]] std::size_t max_count(const Hashing& chunks) const { return lanes_.max_count(chunks); }

    /// Return the number of chunks to wait for. It is 1 if even the largest possible batch would be hashed
    /// one by one.
    [[nodiscard]] std::size_t worth_waiting_for(std::size_t possible) const {
        return slower_in_lanes(static_cast<std::int64_t>(possible)) ? 1 : possible;
    }

    void hash(const Hashing& chunks, const std::size_t* which, std::size_t count) {
        const std::int64_t from_ns = clock_ns();
        const auto number = static_cast<std::int64_t>(count);
        if (one_by_one(number)) {
            single_.hash(chunks, which, count);
            keep_least(one_ns_, (clock_ns() - from_ns) / number);
        } else {
            lanes_.hash(chunks, which, count);
            keep_least(all_ns_, clock_ns() - from_ns);
        }
    }

  private:
    [[nodiscard]] bool one_by_one(std::int64_t number) {
        constexpr unsigned again = 128;
        const unsigned turn = turn_++ % again;
        return turn < 2 ? turn == 0 : slower_in_lanes(number);
    }

    /// Divide instead of multiply: a time that was not measured yet is INT64_MAX.
    [[nodiscard]] bool slower_in_lanes(std::int64_t number) const { return one_ns_ < all_ns_ / number; }

    static void keep_least(std::int64_t& min_ns, std::int64_t one_ns) {
        if (one_ns < min_ns) min_ns = one_ns;
    }

    Lanes lanes_;
    OpenSsl single_;
    unsigned turn_ = 0;
    std::int64_t one_ns_ = INT64_MAX; ///< Minimum time of one chunk, hashed by itself.
    std::int64_t all_ns_ = INT64_MAX; ///< Minimum time of a batch, for any number of filled lanes.
};

} // namespace
