// build: -O2 -fno-tree-vectorize
#include "kernels/xor-parity/words.hpp"

namespace assay::kernels {

namespace {

void short_of_one(unsigned char* target, const unsigned char* const* sources, std::size_t count,
                  std::size_t n) {
    words_in_pairs(target, sources, count > 1 ? count - 1 : count, n);
}

void run(const Parity& p) {
    for (std::size_t g = 0; g < groups_of(p); ++g) columns<short_of_one>(p, g, 0, p.strip);
    for (std::size_t g = 0; g < groups_of(p); ++g) rows<words_in_pairs>(p, g, 0, p.strip);
}

constexpr Variant<Parity> variant{
    .id = "broken-row",
    .parent = "bytes",
    .why = "wrong on purpose: leaves the last stripe of each group out of the vertical parity",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
