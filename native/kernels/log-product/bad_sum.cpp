// build: -O2
#include "kernels/log-product/scalar.hpp"

namespace assay::kernels {

namespace {

void run(const Logarithms& l) {
    for (std::size_t i = 0; i < l.n; ++i) l.c[i] = log(l.a[i] * l.b[i]);
}

constexpr Variant<Logarithms> variant{
    .id = "broken-sum",
    .parent = "scalar-o3",
    .why = "wrong on purpose: the logarithm of the product, which is the sum",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
