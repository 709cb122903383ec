// build: -O0
#include "kernels/log-product/scalar.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> scalar_o0{
    .id = "scalar-o0",
    .parent = nullptr,
    .why = "a call of log() for each element, not optimised",
    .isa = Isa::any,
    .broken = false,
    .run = scalar,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(scalar_o0);

} // namespace assay::kernels
