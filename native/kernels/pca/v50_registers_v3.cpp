// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/pca/strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> registers_v3{
    .id = "registers-v3",
    .parent = "once",
    .why = "blocks as strips of features; sums of three strips with one stay in registers, from the "
           "diagonal downwards; fused multiply-add",
    .isa = Isa::v3,
    .broken = false,
    .run = in_registers<Four>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(registers_v3);

} // namespace assay::kernels
