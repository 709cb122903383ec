#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// What a chunk holds, in 128 bits: two contents with the same digest are taken for the same, so that what
/// was not changed is not written again.
///
/// Write protection cannot tell this: pages that are moved in (UFFDIO_MOVE, Linux 6.18) cannot arrive
/// protected, and until they are, another thread may write.
struct Digest {
    std::uint64_t high = 0, low = 0;
    bool operator==(const Digest&) const = default;
};

/// XXH3 with a seed of this process: about as fast as memory is read.
[[nodiscard]] Digest digest_of(const std::byte* from, std::size_t bytes, std::uint64_t seed);

} // namespace assay::tier
