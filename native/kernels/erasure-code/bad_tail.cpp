// build: -O3
// for: avx2
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Code& c) {
    if (c.n > 0) vectors_of<Ymm, targets, 1, false>(c, 0, 0, c.n - 1);
}

constexpr Variant<Code> variant{
    .id = "broken-tail",
    .parent = ASSAY_ID("once"),
    .why = "wrong on purpose: elements that do not fill a vector are left out",
    .isa = compiled_for,
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
