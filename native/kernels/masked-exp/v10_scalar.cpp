// build: -O2
#include "kernels/masked-exp/scalar.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> branch{
    .id = "scalar",
    .parent = nullptr,
    .why = "each element by itself, and a branch that asks for its sign",
    .isa = Isa::any,
    .broken = false,
    .run = scalar,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(branch);

} // namespace assay::kernels
