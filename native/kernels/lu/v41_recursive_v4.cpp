// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/lu/panels.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> recursive_v4{
    .id = "recursive-v4",
    .parent = "panels",
    .why = "a panel is factored by halves, so that most of its own work is a product too, and not column by "
           "column",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<Way<Eight>, ByHalves>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(recursive_v4);

} // namespace assay::kernels
