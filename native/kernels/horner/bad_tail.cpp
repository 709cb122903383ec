// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/horner/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Polynomial& p) {
    Polynomial shorter = p;
    shorter.n = p.n / 4 * 4 - (p.n % 4 == 0 && p.n > 0 ? 4 : 0);
    serially<Doubles, 1>(shorter);
}

constexpr Variant<Polynomial> variant{
    .id = "broken-tail",
    .parent = ASSAY_ID("vectors"),
    .why = "wrong on purpose: elements that do not fill a vector are left out",
    .isa = compiled_for,
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
