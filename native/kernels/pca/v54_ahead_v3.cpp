// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/pca/strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> ahead_v3{
    .id = "ahead-v3",
    .parent = "registers-v3",
    .why = "the next block is fetched while sums of this one are formed",
    .isa = Isa::v3,
    .broken = false,
    .run = in_registers<Four, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(ahead_v3);

} // namespace assay::kernels
