#include "tier/io/digest.hpp"

#include "tier/io/digest_avx2.hpp"

// A single function of xxHash, compiled here: no library is linked, and the pager calls no foreign code.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay::tier {

Digest digest_of(const std::byte* from, std::size_t bytes, std::uint64_t seed) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") != 0) return digest_of_avx2(from, bytes, seed);
#endif
    const XXH128_hash_t found = XXH3_128bits_withSeed(from, bytes, seed);
    return {found.high64, found.low64};
}

} // namespace assay::tier
