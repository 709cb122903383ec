// build: -O2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

void without_companions(const Base& base) {
    zero(base.sums, base.vectors);
    for (std::size_t i = 0; i < base.vectors; ++i) {
        multiply<One, 1, 8, false>(base.q + i * base.stride, base.stride, base.x, base.n, 0, base.sums + i);
        subtract<One, 1, false>(base.q + i * base.stride, base.stride, base.sums + i, base.x, base.n, 0);
    }
}

constexpr Variant<System> broken_companion{
    .id = "broken-companion",
    .parent = "modified",
    .why = "wrong on purpose: companions stay as they were",
    .isa = Isa::any,
    .broken = true,
    .run = solve<without_companions>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(broken_companion);

} // namespace assay::kernels
