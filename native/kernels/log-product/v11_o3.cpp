// build: -O3
#include "kernels/log-product/scalar.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> scalar_o3{
    .id = "scalar-o3",
    .parent = "scalar-o0",
    .why = "optimised, which leaves the calls as they are",
    .isa = Isa::any,
    .broken = false,
    .run = scalar,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(scalar_o3);

} // namespace assay::kernels
