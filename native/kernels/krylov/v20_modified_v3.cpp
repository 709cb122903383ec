// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> modified_v3{
    .id = "modified-v3",
    .parent = "modified",
    .why = "four elements in one instruction, everywhere",
    .isa = Isa::v3,
    .broken = false,
    .run = solve<one_by_one<Four>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(modified_v3);

} // namespace assay::kernels
