// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> registers_v3{
    .id = "registers-v3",
    .parent = "blocks-v3",
    .why = "16 points with their minima and indices stay in registers",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<16, assign<Avx2, 2, Differences>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(registers_v3);

} // namespace assay::kernels
