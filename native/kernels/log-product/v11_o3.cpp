// build: -O3
#include "kernels/log-product/scalar.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> variant{
    .id = "scalar-o3",
    .parent = "scalar-o0",
    .why = "optimised, which keeps the calls",
    .run = scalar,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
