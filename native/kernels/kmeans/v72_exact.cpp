// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("exact"),
    .parent = ASSAY_ID("registers"),
    .why = "indices after minima as well, with differences: no cancellation",
    .isa = compiled_for,
    .run = serially<points_in_registers, assign_later<Simd, vectors_of_points, Differences>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
