// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("products"),
    .parent = ASSAY_ID("registers"),
    .why = "half the squared norm less the scalar product: three operations instead of six for each pair",
    .isa = compiled_for,
    .run = serially<points_in_registers, assign<Simd, vectors_of_points, Products>>,
    .cost = by_products,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
