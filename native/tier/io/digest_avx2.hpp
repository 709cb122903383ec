#pragma once

#include "tier/io/digest.hpp"

namespace assay::tier {

/// Compute the same digest on processors with AVX2.
[[nodiscard]] Digest digest_of_avx2(const std::byte* from, std::size_t bytes, std::uint64_t seed);

} // namespace assay::tier
