// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("later"),
    .why = "all threads",
    .isa = compiled_for,
    .run = side_by_side<points_in_registers, assign_later<Simd, vectors_of_points, Products>>,
    .cost = by_products,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
