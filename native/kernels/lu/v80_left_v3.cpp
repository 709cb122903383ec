// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> left_v3{
    .id = "left-v3",
    .parent = "threads-v3",
    .why = "from the left: columns are brought up to date by all before them at once, and written once: for "
           "matrices beyond memory, where a pass over all that is left costs most",
    .isa = Isa::v3,
    .broken = false,
    .run = from_the_left<Way<Four>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(left_v3);

} // namespace assay::kernels
