// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> tiles_v4{
    .id = "tiles-v4",
    .parent = "tasks-v4",
    .why = "the matrix in tiles, each in one piece; the pivot is still that of the whole column. The "
           "article has them for matrices beyond memory: within it, copying there and back costs more than "
           "it brings",
    .isa = Isa::v4,
    .broken = false,
    .run = by_tasks<Way<Eight>, InTiles>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(tiles_v4);

} // namespace assay::kernels
