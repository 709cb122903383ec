// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> exact_v4{
    .id = "exact-v4",
    .parent = "registers-v4",
    .why = "indices later as well, with differences: nothing cancels",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<64, assign_later<Avx512, 4, Differences>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(exact_v4);

} // namespace assay::kernels
