// build: -O2 -fno-tree-vectorize
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> variant{
    .id = "rows",
    .parent = "naive",
    .why = "loops in the order of memory: along a row, then rows, then planes",
    .run = row_by_row,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
