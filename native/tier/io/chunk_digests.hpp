#pragma once

#include "tier/io/digest.hpp"
#include "tier/memory/chunk.hpp"
#include "tier/memory/chunk_sizes.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace assay::tier {

/// What chunks hold, told by digests of this process. That of a chunk is made of those of its parts, so that
/// of parts that have become one it is known too.
class ChunkDigests {
  public:
    /// \throws std::bad_alloc, std::system_error.
    explicit ChunkDigests(const ChunkSizes& sizes);

    /// Of what is in a chunk's frame.
    [[nodiscard]] Digest digest(const Chunk& chunk) const {
        return digest(chunk.frame, sizes_.level_of(chunk.bytes()));
    }
    /// Of a chunk that consists of parts, what is known of all of them.
    void combine(Chunk& whole, std::span<const Chunk> parts) const;
    [[nodiscard]] bool is_zero(const Chunk& chunk, const Digest& digest) const {
        return digest == zero_[sizes_.level_of(chunk.bytes())];
    }

  private:
    [[nodiscard]] Digest digest(const std::byte* from, std::size_t level) const;
    [[nodiscard]] Digest chain(const Digest& before, const Digest& part) const;

    ChunkSizes sizes_;
    std::uint64_t seed_;
    std::array<Digest, ChunkSizes::max> zero_; ///< Of zeros, of each size.
};

} // namespace assay::tier
