// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/lu/panels.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> recursive_v3{
    .id = "recursive-v3",
    .parent = "panels",
    .why = "a panel is factored by halves, so that most of its own work is a product too, and not column by "
           "column",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<Way<Four>, ByHalves>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(recursive_v3);

} // namespace assay::kernels
