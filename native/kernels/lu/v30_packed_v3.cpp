// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/lu/panels.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> packed_v3{
    .id = "packed-v3",
    .parent = "panels",
    .why = "the panel in strips of rows, rows of U in strips of columns: what is left is updated as DGEMM "
           "does it, 12 by 4 elements in registers",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<Way<Four>, ByColumns>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(packed_v3);

} // namespace assay::kernels
