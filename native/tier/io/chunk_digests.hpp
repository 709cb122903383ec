#pragma once

#include "tier/io/digest.hpp"
#include "tier/memory/chunk.hpp"
#include "tier/memory/chunk_sizes.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace assay::tier {

/// Digests of chunk contents, with a random seed of this process. The digest of a chunk is computed from
/// the digests of its parts, so that merged parts yield the digest of the whole.
class ChunkDigests {
  public:
    /// \throws std::bad_alloc, std::system_error.
    explicit ChunkDigests(const ChunkSizes& sizes);

    /// Compute the digest of the content of a chunk's frame.
    [[nodiscard]] Digest digest(const Chunk& chunk) const {
        return digest(chunk.frame, sizes_.level_of(chunk.bytes()));
    }
    /// Derive digest and dirty state of a chunk from its parts.
    void combine(Chunk& whole, std::span<const Chunk> parts) const;
    [[nodiscard]] bool is_zero(const Chunk& chunk, const Digest& digest) const {
        return digest == zero_[sizes_.level_of(chunk.bytes())];
    }

  private:
    [[nodiscard]] Digest digest(const std::byte* from, std::size_t level) const;
    [[nodiscard]] Digest chain(const Digest& before, const Digest& part) const;

    ChunkSizes sizes_;
    std::uint64_t seed_;
    std::array<Digest, ChunkSizes::max> zero_; ///< Digests of zeros, by chunk size.
};

} // namespace assay::tier
