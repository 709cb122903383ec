// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> registers_v4{
    .id = "registers-v4",
    .parent = "blocks-v4",
    .why = "64 points with their minima and indices stay in registers",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<64, assign<Avx512, 4, Differences>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(registers_v4);

} // namespace assay::kernels
