// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> variant{
    .id = ASSAY_ID("twice"),
    .parent = ASSAY_ID("blocked"),
    .why = "the classical method twice, which loses no more than the modified one: what safety costs the "
           "application",
    .isa = compiled_for,
    .run = solve<twice<Chunk<Doubles, 8>>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
