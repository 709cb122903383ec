// build: -O3 -ffp-contract=fast -fno-math-errno -fopenmp
// for: avx2 avx512
#include "kernels/hyperbolic/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("lanes"),
    .why = "all threads, each with its own rows",
    .isa = compiled_for,
    .run = steps_side_by_side,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
