// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> exact_v3{
    .id = "exact-v3",
    .parent = "registers-v3",
    .why = "indices later as well, with differences: nothing cancels",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<16, assign_later<Avx2, 2, Differences>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(exact_v3);

} // namespace assay::kernels
