// build: -O2 -fno-tree-vectorize
#include "kernels/xor-parity/words.hpp"

namespace assay::kernels {

namespace {

void combine(unsigned char* target, const unsigned char* const* sources, std::size_t count, std::size_t n) {
    words_in_pairs(target, sources, count, n > 0 ? (n - 1) / sizeof(std::size_t) * sizeof(std::size_t) : 0);
}

constexpr Variant<Parity> variant{
    .id = "broken-tail",
    .parent = "words",
    .why = "wrong on purpose: bytes that do not fill the last word are left out",
    .broken = true,
    .run = one_after_the_other<combine>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
