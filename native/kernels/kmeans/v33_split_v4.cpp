// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -ffast-math
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> split_v4{
    .id = "split-v4",
    .parent = "split-fast",
    .why = "vectors of AVX-512",
    .isa = Isa::v4,
    .broken = false,
    .run = split,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(split_v4);

} // namespace assay::kernels
