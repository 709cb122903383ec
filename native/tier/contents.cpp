#include "tier/contents.hpp"

#include <sys/random.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace assay::tier {

namespace {

std::uint64_t random_seed() {
    std::uint64_t seed = 0;
    if (::getrandom(&seed, sizeof seed, 0) != sizeof seed)
        throw std::system_error(errno, std::generic_category(), "getrandom");
    return seed;
}

} // namespace

Contents::Contents(const Sizes& sizes) : sizes_(sizes), seed_(random_seed()) {
    std::byte* const zeros = sys::map(sizes.largest());
    if (zeros == nullptr) throw std::bad_alloc();
    for (std::size_t i = 0; i < sizes.size(); ++i) zero_[i] = digest_of(zeros, sizes[i], seed_);
    sys::unmap(zeros, sizes.largest());
}

Digest Contents::digest(const Chunk& chunk) const {
    return digest_of(chunk.frame, chunk.bytes(), seed_);
}

} // namespace assay::tier
