// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = ASSAY_ID("tiles"),
    .parent = ASSAY_ID("tasks"),
    .why = "the matrix in contiguous tiles; the pivot is still that of the whole column. For matrices beyond "
           "memory, as in the article: within memory, copying costs more than it gains",
    .isa = compiled_for,
    .run = by_tasks<Way<Doubles>, InTiles>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
