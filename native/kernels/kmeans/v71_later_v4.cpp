// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> later_v4{
    .id = "later-v4",
    .parent = "products-v4",
    .why =
        "the inner loop finds minima alone; indices follow from the group of sixteen centres each came from",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<64, assign_later<Avx512, 4, Products>>,
    .missing = nullptr,
    .cost = by_products,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(later_v4);

} // namespace assay::kernels
