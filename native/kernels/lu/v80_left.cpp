// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/lu/tasks.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Matrix> variant{
    .id = ASSAY_ID("left"),
    .parent = ASSAY_ID("threads"),
    .why = "left-looking: columns receive all their updates at once and are written once: for matrices "
           "beyond memory, where passes over the rest cost most",
    .isa = compiled_for,
    .run = from_the_left<Way<Doubles>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
