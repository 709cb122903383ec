#pragma once

#include "kernels/hash/work.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// Chunks of many producers for one consumer, which returns their digests.
///
/// Producer p fills chunks p, p + producers, and so on. It begins the next chunk after it has received the
/// digest of the previous one, so that at most one chunk of each producer is waiting.
struct Intake {
    Hashing chunks;
    std::size_t producers;
    std::int64_t gap_ns;    ///< Mean time in which a producer fills a chunk.
    std::int64_t* busy_ns;  ///< Time that the consumer spends on hashing.
    std::int64_t* whole_ns; ///< Time from the beginning to the last digest.
};

constexpr std::size_t max_producers = 64;

} // namespace assay::kernels
