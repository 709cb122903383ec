// build: -O2 -fno-tree-vectorize
#include "kernels/xor-parity/groups.hpp"

namespace assay::kernels {

namespace {

void combine(unsigned char* target, const unsigned char* const* sources, std::size_t count, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) target[i] = sources[0][i];
    for (std::size_t s = 1; s < count; ++s)
        for (std::size_t i = 0; i < n; ++i) target[i] ^= sources[s][i];
}

constexpr Variant<Parity> variant{
    .id = "bytes",
    .parent = "",
    .why = "adds disk by disk to the parity, byte by byte, one parity after the other",
    .run = one_after_the_other<combine>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
