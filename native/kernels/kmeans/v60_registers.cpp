// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("registers"),
    .parent = ASSAY_ID("blocks"),
    .why = ASSAY_AVX2("16 points with their minima and indices stay in registers")
        ASSAY_AVX512("64 points with their minima and indices stay in registers"),
    .isa = compiled_for,
    .run = serially<points_in_registers, assign<Simd, vectors_of_points, Differences>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
