// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> split_o3{
    .id = "split-o3",
    .parent = "split-o2",
    .why = "vectors of AVX2",
    .isa = Isa::v3,
    .broken = false,
    .run = split,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(split_o3);

} // namespace assay::kernels
