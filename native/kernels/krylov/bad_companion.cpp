// build: -O2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

void without_companions(const Base& base) {
    zero(base.sums, base.vectors);
    for (std::size_t i = 0; i < base.vectors; ++i) {
        multiply<Double1, 1, 8, false>(base.q + i * base.stride, base.stride, base.x, base.n, 0,
                                       base.sums + i);
        subtract<Double1, 1, false>(base.q + i * base.stride, base.stride, base.sums + i, base.x, base.n, 0);
    }
}

constexpr Variant<System> variant{
    .id = "broken-companion",
    .parent = "modified",
    .why = "wrong on purpose: companions are unchanged",
    .broken = true,
    .run = solve<without_companions>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
