// build: -O2 -fno-tree-vectorize
#include "kernels/horner/scalar.hpp"

namespace assay::kernels {

namespace {

void run(const Polynomial& p) {
    double sum = 0.0;
    for (std::size_t i = 0; i < p.n; ++i) {
        const double value = at(p, p.x[i]);
        if (p.y)
            p.y[i] = value;
        else
            sum += value;
    }
    if (!p.y) *p.sum = sum;
}

constexpr Variant<Polynomial> variant{
    .id = "horner",
    .parent = "powers",
    .why = "Horner's rule: one multiplication and one addition for each degree",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
