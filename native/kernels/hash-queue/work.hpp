#pragma once

#include "kernels/hash/work.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// Chunks that producers hand to one consumer, who gives back their digests.
///
/// Producer p fills chunks p, p + producers, and so on. It begins the next one when it has the digest of the
/// one before, so that no more chunks wait than there are producers.
struct Intake {
    Hashing chunks;
    std::size_t producers;
    std::int64_t gap_ns;    ///< Time in which a producer fills a chunk.
    std::int64_t* busy_ns;  ///< Time in which the consumer hashes.
    std::int64_t* whole_ns; ///< Time from the beginning to the last digest.
};

constexpr std::size_t max_producers = 64;

} // namespace assay::kernels
