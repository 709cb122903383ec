// build: -O2
#include "kernels/masked-exp/scalar.hpp"

namespace assay::kernels {

namespace {

void run(const Masked& m) {
    for (std::size_t i = 0; i < m.n; ++i) m.y[i] = exp(m.x[i]) * (m.x[i] > 0.0 ? 1.0 : 0.0);
}

constexpr Variant<Masked> variant{
    .id = "broken-product",
    .parent = "scalar",
    .why = "wrong on purpose: multiplies by the mask, which keeps NaN",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
