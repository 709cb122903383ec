// build: -O3 -march=x86-64-v3
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Code& c) {
    if (c.n > 0) vectors_of<Ymm, targets, 1, false>(c, 0, 0, c.n - 1);
}

constexpr Variant<Code> bad_tail{
    .id = "broken-tail",
    .parent = "once-avx2",
    .why = "wrong on purpose: what does not fill a vector is left out",
    .isa = Isa::v3,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_tail);

} // namespace assay::kernels
