// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/lu/panels.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = ASSAY_ID("recursive"),
    .parent = "panels",
    .why = "a panel is factored by halves, so that most of its own work is a product too, and not column by "
           "column",
    .isa = compiled_for,
    .run = serially<Way<Doubles>, ByHalves>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
