#pragma once

/// Local to each file that includes it: see hash/lanes.hpp.

#include "kernels/hash-queue/queue.hpp"
#include "kernels/hash/lanes.hpp"

namespace {

/// \tparam S, L vectors of words of 32 and of 64 bits.
template <class S, class L>
struct OwnLanes {
    [[nodiscard]] std::size_t max_count(const Hashing& chunks) const { return lanes_of<S, L>(chunks); }
    /// Batches are as large as possible, since a batch takes the same time for any number of filled lanes.
    [[nodiscard]] std::size_t worth_waiting_for(std::size_t possible) const { return possible; }
    void hash(const Hashing& chunks, const std::size_t* which, std::size_t count) {
        hash_these<S, L>(chunks, which, count);
    }
};

} // namespace
