// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/pca/strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> ahead_v4{
    .id = "ahead-v4",
    .parent = "registers-v4",
    .why = "the next block is fetched while sums of this one are formed",
    .isa = Isa::v4,
    .broken = false,
    .run = in_registers<Eight, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(ahead_v4);

} // namespace assay::kernels
