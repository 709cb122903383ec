#pragma once

/// Local to each file that includes it: see hash/lanes.hpp.

#include "kernels/hash-queue/lanes.hpp"
#include "kernels/hash-queue/libraries.hpp"

namespace {

/// Lanes, or one chunk after the other by a library that uses the processor's own instructions: the faster
/// one so far. The least time of each counts, since other processes only add to it. Each is tried again from
/// time to time: the first call of a library does more than later ones.
template <class Lanes>
class Mixed {
  public:
    [[nodiscard]] std::size_t most(const Hashing& chunks) const { return lanes_.most(chunks); }

    /// None, where even as many as are possible would be taken one by one.
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

    /// Divided and not multiplied, for a time that was never taken is the largest there is.
    [[nodiscard]] bool slower_in_lanes(std::int64_t number) const { return one_ns_ < all_ns_ / number; }

    static void keep_least(std::int64_t& min_ns, std::int64_t one_ns) {
        if (one_ns < min_ns) min_ns = one_ns;
    }

    Lanes lanes_;
    OpenSsl single_;
    unsigned turn_ = 0;
    std::int64_t one_ns_ = INT64_MAX; ///< A chunk by itself.
    std::int64_t all_ns_ = INT64_MAX; ///< All lanes, however many of them have a chunk.
};

} // namespace
