// build: -O2 -fno-tree-vectorize
#include "kernels/erasure-code/work.hpp"

namespace assay::kernels {

namespace {

void run(const Code& c) {
    for (std::size_t t = 0; t < targets; ++t) {
        for (std::size_t i = 0; i < c.n; ++i) {
            unsigned char sum = 0;
            for (std::size_t s = 0; s < sources; ++s) sum ^= c.product[t * sources + s][c.source[s][i]];
            c.target[t][i] = sum;
        }
    }
}

constexpr Variant<Code> variant{
    .id = "products",
    .parent = "logarithms",
    .why = "a table of 256 products for each coefficient, and the sum in a register",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
