// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/lu/panels.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> packed_v4{
    .id = "packed-v4",
    .parent = "panels",
    .why = "the panel in strips of rows, rows of U in strips of columns: what is left is updated as DGEMM "
           "does it, 24 by 8 elements in registers",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<Way<Eight>, ByColumns>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(packed_v4);

} // namespace assay::kernels
