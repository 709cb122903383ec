// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> threads_v3{
    .id = "threads-v3",
    .parent = "later-v3",
    .why = "all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<16, assign_later<Avx2, 2, Products>>,
    .missing = nullptr,
    .cost = by_products,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
