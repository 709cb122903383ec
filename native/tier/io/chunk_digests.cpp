#include "tier/io/chunk_digests.hpp"

#include <sys/random.h>

#include <algorithm>
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

ChunkDigests::ChunkDigests(const ChunkSizes& sizes) : sizes_(sizes), seed_(random_seed()) {
    std::byte* const zeros = sys::map(sizes.largest());
    if (zeros == nullptr) throw std::bad_alloc();
    for (std::size_t i = 0; i < sizes.size(); ++i) zero_[i] = digest(zeros, i);
    sys::unmap(zeros, sizes.largest());
}

Digest ChunkDigests::chain(const Digest& before, const Digest& part) const {
    const std::array<Digest, 2> both{before, part};
    return digest_of(reinterpret_cast<const std::byte*>(both.data()), sizeof both, seed_);
}

Digest ChunkDigests::digest(const std::byte* from, std::size_t level) const {
    if (level + 1 == sizes_.size()) return digest_of(from, sizes_[level], seed_);
    Digest found{};
    const std::byte* const end = from + sizes_[level];
    for (; from < end; from += sizes_[level + 1]) found = chain(found, digest(from, level + 1));
    return found;
}

void ChunkDigests::combine(Chunk& whole, std::span<const Chunk> parts) const {
    whole.dirty = std::ranges::any_of(parts, [](const Chunk& part) { return part.dirty; });
    whole.has_digest = std::ranges::all_of(parts, [](const Chunk& part) { return part.has_digest; });
    if (!whole.has_digest) return;
    whole.digest = {};
    for (const Chunk& part : parts) whole.digest = chain(whole.digest, part.digest);
}

} // namespace assay::tier
