// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> left_v4{
    .id = "left-v4",
    .parent = "threads-v4",
    .why = "from the left: columns are brought up to date by all before them at once, and written once: for "
           "matrices beyond memory, where a pass over all that is left costs most",
    .isa = Isa::v4,
    .broken = false,
    .run = from_the_left<Way<Eight>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(left_v4);

} // namespace assay::kernels
