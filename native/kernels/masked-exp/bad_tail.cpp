// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Masked& m) {
    Masked whole_vectors = m;
    whole_vectors.n = (m.n > 0 ? m.n - 1 : 0) / 4 * 4;
    own<Simd, false>(whole_vectors);
}

constexpr Variant<Masked> variant{
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
