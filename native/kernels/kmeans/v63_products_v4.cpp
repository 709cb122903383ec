// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> products_v4{
    .id = "products-v4",
    .parent = "registers-v4",
    .why = "half the squared norm less the scalar product: three operations instead of six for each pair",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<64, assign<Avx512, 4, Products>>,
    .missing = nullptr,
    .cost = by_products,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(products_v4);

} // namespace assay::kernels
