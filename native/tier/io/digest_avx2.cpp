#include "tier/io/digest_avx2.hpp"

// This file alone is built with -mavx2: nothing that others may take (of the C++ library, above all) is in
// it.
#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

namespace assay::tier {

Digest digest_of_avx2(const std::byte* from, std::size_t bytes, std::uint64_t seed) {
    const XXH128_hash_t found = XXH3_128bits_withSeed(from, bytes, seed);
    return {found.high64, found.low64};
}

} // namespace assay::tier
