#pragma once

#include "tier/chunk.hpp"
#include "tier/digest.hpp"
#include "tier/sizes.hpp"

#include <array>
#include <cstdint>

namespace assay::tier {

/// What chunks hold, told by digests of this process.
class Contents {
  public:
    /// \throws std::bad_alloc, std::system_error.
    explicit Contents(const Sizes& sizes);

    /// Of what is in a chunk's frame.
    [[nodiscard]] Digest digest(const Chunk& chunk) const;
    [[nodiscard]] bool is_zero(const Chunk& chunk, const Digest& digest) const {
        return digest == zero_[sizes_.level_of(chunk.bytes())];
    }

  private:
    Sizes sizes_;
    std::uint64_t seed_;
    std::array<Digest, Sizes::most> zero_; ///< Of zeros, of each size.
};

} // namespace assay::tier
