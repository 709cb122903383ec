// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/horner/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Polynomial& p) {
    Polynomial most = p;
    most.n = p.n / 4 * 4 - (p.n % 4 == 0 && p.n > 0 ? 4 : 0);
    serially<Four, 1>(most);
}

constexpr Variant<Polynomial> bad_tail{
    .id = "broken-tail",
    .parent = "avx2",
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
