// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> later_v3{
    .id = "later-v3",
    .parent = "products-v3",
    .why =
        "the inner loop finds minima alone; indices follow from the group of sixteen centres each came from",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<16, assign_later<Avx2, 2, Products>>,
    .missing = nullptr,
    .cost = by_products,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(later_v3);

} // namespace assay::kernels
