// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/pca/strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> registers_v4{
    .id = "registers-v4",
    .parent = "registers-v3",
    .why = "vectors of 512 bits",
    .isa = Isa::v4,
    .broken = false,
    .run = in_registers<Eight>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(registers_v4);

} // namespace assay::kernels
