// build: -O2 -fno-tree-vectorize
#include "kernels/erasure-code/work.hpp"

namespace assay::kernels {

namespace {

void run(const Code& c) {
    for (std::size_t t = 0; t < targets; ++t) {
        for (std::size_t i = 0; i < c.n; ++i) {
            unsigned char sum = 0;
            for (std::size_t s = 0; s < sources; ++s) sum ^= c.product[t * sources + s][c.source[s][i]];
            c.target[t ? targets - t : 0][i] = sum;
        }
    }
}

constexpr Variant<Code> variant{
    .id = "broken-rows",
    .parent = "products",
    .why = "wrong on purpose: two parities are swapped",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
