// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> tiles_v3{
    .id = "tiles-v3",
    .parent = "tasks-v3",
    .why = "the matrix in tiles, each in one piece; the pivot is still that of the whole column. The "
           "article has them for matrices beyond memory: within it, copying there and back costs more than "
           "it brings",
    .isa = Isa::v3,
    .broken = false,
    .run = by_tasks<Way<Four>, InTiles>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(tiles_v3);

} // namespace assay::kernels
