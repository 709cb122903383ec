// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> threads_v4{
    .id = "threads-v4",
    .parent = "later-v4",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<64, assign_later<Avx512, 4, Products>>,
    .missing = nullptr,
    .cost = by_products,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
