// build: -O2 -fno-tree-vectorize
#include "kernels/xor-parity/groups.hpp"

namespace assay::kernels {

namespace {

void combine(unsigned char* target, const unsigned char* const* sources, std::size_t count, std::size_t n) {
    for (std::size_t s = 0; s < count; ++s)
        for (std::size_t i = 0; i < n; ++i) target[i] ^= sources[s][i];
}

constexpr Variant<Parity> bad_uncleared{
    .id = "broken-uncleared",
    .parent = "bytes",
    .why = "wrong on purpose: sums begin with what the parity held before",
    .isa = Isa::any,
    .broken = true,
    .run = one_after_the_other<combine>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_uncleared);

} // namespace assay::kernels
