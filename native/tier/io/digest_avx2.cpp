#include "tier/io/digest_avx2.hpp"

// Only this file is compiled with -mavx2. It must not define inline functions that other files share, such as
// those of the C++ library.
#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

namespace assay::tier {

Digest digest_of_avx2(const std::byte* from, std::size_t bytes, std::uint64_t seed) {
    const XXH128_hash_t found = XXH3_128bits_withSeed(from, bytes, seed);
    return {found.high64, found.low64};
}

} // namespace assay::tier
