// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("later"),
    .parent = ASSAY_ID("products"),
    .why =
        "the inner loop finds minima alone; indices follow from the group of sixteen centres of each minimum",
    .isa = compiled_for,
    .run = serially<points_in_registers, assign_later<Simd, vectors_of_points, Products>>,
    .cost = by_products,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
