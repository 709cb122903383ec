// build: -O0
#include "kernels/log-product/scalar.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> variant{
    .id = "scalar-o0",
    .parent = "",
    .why = "a call of log() for each element, not optimised",
    .run = scalar,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
