// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Logarithms& l) {
    Logarithms most = l;
    most.n = (l.n > 0 ? l.n - 1 : 0) / 4 * 4;
    own<Avx2, false>(most);
}

constexpr Variant<Logarithms> bad_tail{
    .id = "broken-tail",
    .parent = "own-v3",
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
