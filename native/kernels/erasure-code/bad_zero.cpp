// build: -O2 -fno-tree-vectorize
#include "kernels/erasure-code/work.hpp"

namespace assay::kernels {

namespace {

void run(const Code& c) {
    for (std::size_t t = 0; t < targets; ++t) {
        for (std::size_t i = 0; i < c.n; ++i) c.target[t][i] = 0;
        for (std::size_t s = 0; s < sources; ++s) {
            const std::size_t factor = c.logarithm[c.coefficient[t * sources + s]];
            for (std::size_t i = 0; i < c.n; ++i) {
                const unsigned char x = c.source[s][i];
                c.target[t][i] ^= c.power[factor + c.logarithm[x]];
            }
        }
    }
}

constexpr Variant<Code> variant{
    .id = "broken-zero",
    .parent = "logarithms",
    .why = "wrong on purpose: multiplies 0, which has no logarithm, as if it had one",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
