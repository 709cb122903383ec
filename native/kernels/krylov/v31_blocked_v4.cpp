// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> blocked_v4{
    .id = "blocked-v4",
    .parent = "blocked-v3",
    .why = "eight elements in one instruction",
    .isa = Isa::v4,
    .broken = false,
    .run = solve<there_and_back<Chunk<Eight, 8>>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(blocked_v4);

} // namespace assay::kernels
