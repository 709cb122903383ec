// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("split-o3"),
    .parent = "split-o2",
    .why = "vectors of AVX2",
    .isa = compiled_for,
    .run = split,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
