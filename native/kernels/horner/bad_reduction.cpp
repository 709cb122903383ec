// build: -O2
#include "kernels/horner/scalar.hpp"

namespace assay::kernels {

namespace {

void run(const Polynomial& p) {
    double sum = 0.0;
    for (std::size_t i = 0; i < p.n; ++i) {
        const double value = at(p, p.x[i]);
        if (p.y)
            p.y[(i ^ 1U) < p.n ? (i ^ 1U) : i] = value;
        else if (i < p.n / 2)
            sum += value;
    }
    if (!p.y) *p.sum = sum;
}

constexpr Variant<Polynomial> variant{
    .id = "broken-reduction",
    .parent = "horner",
    .why = "wrong on purpose: a thread's sum is lost, and neighbours are swapped",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
