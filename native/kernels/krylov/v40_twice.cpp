// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> variant{
    .id = ASSAY_ID("twice"),
    .parent = ASSAY_ID("blocked"),
    .why =
        "the classical method twice, as accurate as the modified one: the cost of safety for the application",
    .isa = compiled_for,
    .run = solve<twice<Chunk<Doubles, 8>>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
