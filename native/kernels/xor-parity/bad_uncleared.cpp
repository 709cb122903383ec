// build: -O2 -fno-tree-vectorize
#include "kernels/xor-parity/groups.hpp"

namespace assay::kernels {

namespace {

void combine(unsigned char* target, const unsigned char* const* sources, std::size_t count, std::size_t n) {
    for (std::size_t s = 0; s < count; ++s)
        for (std::size_t i = 0; i < n; ++i) target[i] ^= sources[s][i];
}

constexpr Variant<Parity> variant{
    .id = "broken-uncleared",
    .parent = "bytes",
    .why = "wrong on purpose: sums begin with the previous parity",
    .broken = true,
    .run = one_after_the_other<combine>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
