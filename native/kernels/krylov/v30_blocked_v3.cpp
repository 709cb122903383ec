// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> blocked_v3{
    .id = "blocked-v3",
    .parent = "modified-v3",
    .why = "the classical method, by chunks of all vectors: nothing but the orthogonalisation has changed",
    .isa = Isa::v3,
    .broken = false,
    .run = solve<there_and_back<Chunk<Four, 8>>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(blocked_v3);

} // namespace assay::kernels
