// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> variant{
    .id = ASSAY_ID("modified"),
    .parent = "modified",
    .why = "four elements in one instruction, everywhere",
    .isa = compiled_for,
    .run = solve<one_by_one<Doubles>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
