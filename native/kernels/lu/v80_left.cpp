// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = ASSAY_ID("left"),
    .parent = ASSAY_ID("threads"),
    .why = "from the left: columns are brought up to date by all before them at once, and written once: for "
           "matrices beyond memory, where a pass over all that is left costs most",
    .isa = compiled_for,
    .run = from_the_left<Way<Doubles>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
