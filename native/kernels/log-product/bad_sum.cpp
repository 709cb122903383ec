// build: -O2
#include "kernels/log-product/scalar.hpp"

namespace assay::kernels {

namespace {

void run(const Logarithms& l) {
    for (std::size_t i = 0; i < l.n; ++i) l.c[i] = log(l.a[i] * l.b[i]);
}

constexpr Variant<Logarithms> bad_sum{
    .id = "broken-sum",
    .parent = "scalar-o3",
    .why = "wrong on purpose: the logarithm of the product, which is their sum",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_sum);

} // namespace assay::kernels
