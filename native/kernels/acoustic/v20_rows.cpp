// build: -O2 -fno-tree-vectorize
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> rows{
    .id = "rows",
    .parent = "naive",
    .why = "loops in the order of memory: along a row, then rows, then planes",
    .isa = Isa::any,
    .broken = false,
    .run = row_by_row,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(rows);

} // namespace assay::kernels
