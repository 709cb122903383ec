// build: -O2
#include "kernels/masked-exp/scalar.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = "scalar",
    .parent = "",
    .why = "each element by itself, with a branch on its sign",
    .run = scalar,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
