// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = ASSAY_ID("tiles"),
    .parent = ASSAY_ID("tasks"),
    .why = "the matrix in tiles, each in one piece; the pivot is still that of the whole column. The article "
           "has them for matrices beyond memory: within it, copying there and back costs more than it brings",
    .isa = compiled_for,
    .run = by_tasks<Way<Doubles>, InTiles>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
