// build: -O2 -fno-tree-vectorize
#include "kernels/xor-parity/words.hpp"

namespace assay::kernels {

namespace {

void combine(unsigned char* target, const unsigned char* const* sources, std::size_t count, std::size_t n) {
    words_in_pairs(target, sources, count, n);
    if (count == disks) __builtin_memcpy(const_cast<unsigned char*>(sources[0]), target, n);
}

constexpr Variant<Parity> variant{
    .id = "broken-in-place",
    .parent = "words",
    .why = "wrong on purpose: correct sums, but accumulated in the first disk, which is data",
    .broken = true,
    .run = one_after_the_other<combine>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
