// build: -O2
#include "kernels/horner/work.hpp"

#include <math.h>

namespace assay::kernels {

namespace {

void run(const Polynomial& p) {
    double sum = 0.0;
    for (std::size_t i = 0; i < p.n; ++i) {
        double value = 0.0;
        for (std::size_t k = 0; k <= p.degree; ++k) value += p.c[k] * pow(p.x[i], static_cast<double>(k));
        if (p.y)
            p.y[i] = value;
        else
            sum += value;
    }
    if (!p.y) *p.sum = sum;
}

constexpr Variant<Polynomial> variant{
    .id = "powers",
    .parent = "",
    .why = "each term by itself, as in the formula: a call of pow() for each",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
