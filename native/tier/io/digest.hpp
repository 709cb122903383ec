#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// 128-bit digest of a chunk. Equal digests are treated as equal content, so that unchanged chunks are not
/// written back.
///
/// Write protection cannot replace it: pages cannot be moved in write-protected (UFFDIO_MOVE, Linux 6.18),
/// and another thread may write before they are protected.
struct Digest {
    std::uint64_t high = 0, low = 0;
    bool operator==(const Digest&) const = default;
};

/// Compute an XXH3 digest with a seed, at about the speed of reading memory.
[[nodiscard]] Digest digest_of(const std::byte* from, std::size_t bytes, std::uint64_t seed);

} // namespace assay::tier
