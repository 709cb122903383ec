// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Logarithms& l) {
    Logarithms shorter = l;
    shorter.n = (l.n > 0 ? l.n - 1 : 0) / 4 * 4;
    own<Simd, false>(shorter);
}

constexpr Variant<Logarithms> variant{
    .id = "broken-tail",
    .parent = ASSAY_ID("own"),
    .why = "wrong on purpose: elements that do not fill a vector are left out",
    .isa = compiled_for,
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
