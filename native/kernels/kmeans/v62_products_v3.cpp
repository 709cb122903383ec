// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> products_v3{
    .id = "products-v3",
    .parent = "registers-v3",
    .why = "half the squared norm less the scalar product: three operations instead of six for each pair",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<16, assign<Avx2, 2, Products>>,
    .missing = nullptr,
    .cost = by_products,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(products_v3);

} // namespace assay::kernels
