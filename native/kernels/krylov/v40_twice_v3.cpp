// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> twice_v3{
    .id = "twice-v3",
    .parent = "blocked-v3",
    .why = "the classical method twice, which loses no more than the modified one: what safety costs the "
           "application",
    .isa = Isa::v3,
    .broken = false,
    .run = solve<twice<Chunk<Four, 8>>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(twice_v3);

} // namespace assay::kernels
